import torch


def batches():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(12, 3, generator=generator)
    return [(x[:8], (x[:8, 0] > 0).long()), (x[8:], (x[8:, 0] > 0).long())]
