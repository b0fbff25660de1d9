# SPDX-License-Identifier: Apache-2.0
"""A PyTorch program to be recorded: three operations whose gradients are added up by atomics."""

import torch
import torch.nn.functional as F


def main():
    torch.manual_seed(0)
    device = "cuda"
    draw = torch.Generator().manual_seed(1)

    # Messages of a graph's edges, added up at its nodes.
    nodes = torch.randint(0, 4096, (50_000,), generator=draw).to(device)
    sums = torch.zeros(4096, 32, device=device)
    sums.index_add_(0, nodes, torch.randn(50_000, 32, device=device))

    # A picture that is sampled off its grid, and learnt.
    image = torch.randn(1, 8, 128, 128, device=device, requires_grad=True)
    grid = (torch.rand(1, 256, 256, 2, generator=draw) * 2 - 1).to(device)
    sampled = F.grid_sample(image, grid, align_corners=False)
    sampled.backward(torch.randn_like(sampled))

    # Bags of words, each represented by its largest entries.
    bag = torch.nn.EmbeddingBag(2000, 64, mode="max", device=device)
    words = torch.randint(0, 2000, (4096, 16), generator=draw).to(device)
    pooled = bag(words)
    pooled.backward(torch.randn_like(pooled))

    torch.cuda.synchronize()
    print("sums", float(sums.sum()), float(image.grad.sum()), float(bag.weight.grad.sum()))


if __name__ == "__main__":
    main()
