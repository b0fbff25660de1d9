# SPDX-License-Identifier: Apache-2.0
"""A PyTorch program to be recorded: three operations whose gradients are added up by atomics.

usage: pytorch_ops.py [ARRAYS]

With ARRAYS all that is added is 1, and the sums are written to that file for check_additions.py.
"""

import struct
import sys

import torch
import torch.nn.functional as F


def write(path, arrays):
    """As check_additions.py reads them: base address, number of elements and their bytes, then the values."""
    with open(path, "wb") as file:
        for array in arrays:
            values = array.detach().contiguous()
            file.write(struct.pack("<3Q", values.data_ptr(), values.numel(), values.element_size()))
            file.write(values.cpu().numpy().astype("<f4").tobytes())


def main(path=None):
    torch.manual_seed(0)
    draw_like = torch.randn_like if path is None else torch.ones_like
    device = "cuda"
    draw = torch.Generator().manual_seed(1)

    # Messages of a graph's edges, added up at its nodes.
    nodes = torch.randint(0, 4096, (50_000,), generator=draw).to(device)
    sums = torch.zeros(4096, 32, device=device)
    sums.index_add_(0, nodes, draw_like(torch.empty(50_000, 32, device=device)))

    # A picture that is sampled off its grid, and learnt.
    image = torch.randn(1, 8, 128, 128, device=device, requires_grad=True)
    grid = (torch.rand(1, 256, 256, 2, generator=draw) * 2 - 1).to(device)
    sampled = F.grid_sample(image, grid, mode="bilinear" if path is None else "nearest", align_corners=False)
    sampled.backward(draw_like(sampled))

    # Bags of words, each represented by its largest entries.
    bag = torch.nn.EmbeddingBag(2000, 64, mode="max", device=device)
    words = torch.randint(0, 2000, (4096, 16), generator=draw).to(device)
    pooled = bag(words)
    pooled.backward(draw_like(pooled))

    torch.cuda.synchronize()
    if path is not None:
        write(path, [sums, image.grad, bag.weight.grad])
    print("sums", float(sums.sum()), float(image.grad.sum()), float(bag.weight.grad.sum()))


if __name__ == "__main__":
    main(*sys.argv[1:2])
