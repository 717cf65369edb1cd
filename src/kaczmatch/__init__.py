"""kaczmatch: learns what each person likes from that person's own swipes, for reciprocal recommendation.

Importing this package loads nothing heavy. Each name of `__init__.pyi` is imported, and its compiled kernels with it, when it is
first used.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
