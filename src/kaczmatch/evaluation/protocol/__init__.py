"""A swipe log under a protocol: who is fitted and tested, who competes, and what each user could know when."""
