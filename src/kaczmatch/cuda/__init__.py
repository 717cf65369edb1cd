"""Jobs on one NVIDIA GPU. These modules import torch, triton and numpy only; the extra `gpu` installs them."""
