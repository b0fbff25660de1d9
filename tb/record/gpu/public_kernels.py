#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of public libraries that add by atomics, to be recorded: one run of each operation, whatever it launches.

usage: public_kernels.py [--repeat N] [--turns FILE] CASE...
       public_kernels.py --list

CASE is the name of an operation or of a group (torch, vision, compiled, triton, jax, cupy, numba, sparse, graphs). An operation
whose library is not installed says so and is passed over. With --repeat each is called N times on the same data. With --turns
many of these programs may run at once: one that is only timed has the GPU for itself meanwhile.
Exit code 0: all ran. 1: one failed. 2: bad usage.
"""

import argparse
import contextlib
import fcntl
import importlib
import os
import sys
import traceback

CASES = {}  # name -> (group, function)
ONCE = {"torch_two_processes"}  # those that start programs
EDGES, NODES, WIDTH = 100_000, 8192, 32


def case(group):
    def keep(function):
        CASES[function.__name__] = (group, function)
        return function
    return keep


class Missing(Exception):
    """A library that is not installed."""


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(name) from error


class Torch:
    """Data that the operations of PyTorch share, made once on the host, so that no kernel draws them."""

    def __init__(self):
        self.torch = need("torch")
        self.f = need("torch.nn.functional")
        self.draw = self.torch.Generator().manual_seed(1)

    def index(self, count, below):
        return self.torch.randint(0, below, (count,), generator=self.draw).cuda()

    def values(self, *shape, dtype=None, grad=False):
        made = self.torch.randn(*shape, generator=self.draw).to(dtype or self.torch.float32).cuda()
        return made.requires_grad_(grad)

    def zeros(self, *shape, dtype=None):
        return self.torch.zeros(*shape, dtype=dtype or self.torch.float32).cuda()

    def backward(self, result):
        return lambda: result.backward(self.torch.ones_like(result), retain_graph=True)


T = None


def torch_data():
    global T  # pylint: disable=global-statement
    T = T or Torch()
    return T


# PyTorch, eager.

def index_add(dtype):
    t = torch_data()
    nodes, rows, sums = t.index(EDGES, NODES), t.values(EDGES, WIDTH, dtype=dtype), t.zeros(NODES, WIDTH, dtype=dtype)
    return lambda: sums.index_add_(0, nodes, rows)


@case("torch")
def index_add_floats():
    return index_add(torch_data().torch.float32)


@case("torch")
def index_add_doubles():
    return index_add(torch_data().torch.float64)


@case("torch")
def index_add_halves():
    return index_add(torch_data().torch.float16)


@case("torch")
def index_add_brains():
    return index_add(torch_data().torch.bfloat16)


@case("torch")
def index_add_small():
    t = torch_data()
    few, rows, sums = t.index(16, 64), t.values(16, WIDTH), t.zeros(64, WIDTH)
    return lambda: sums.index_add_(0, few, rows)


@case("torch")
def scatter_add_1d():
    t = torch_data()
    where, values, sums = t.index(1_000_000, 64), t.values(1_000_000), t.zeros(64)
    return lambda: sums.scatter_add_(0, where, values)


@case("torch")
def scatter_add_2d():
    t = torch_data()
    nodes = t.index(EDGES, NODES)[:, None].expand(-1, WIDTH).contiguous()
    rows, sums = t.values(EDGES, WIDTH), t.zeros(NODES, WIDTH)
    return lambda: sums.scatter_add_(0, nodes, rows)


@case("torch")
def scatter_add_doubles():
    t = torch_data()
    double = t.torch.float64
    where, values, sums = t.index(200_000, NODES), t.values(200_000, dtype=double), t.zeros(NODES, dtype=double)
    return lambda: sums.scatter_add_(0, where, values)


@case("torch")
def scatter_add_halves():
    t = torch_data()
    half = t.torch.float16
    where, values, sums = t.index(200_000, NODES), t.values(200_000, dtype=half), t.zeros(NODES, dtype=half)
    return lambda: sums.scatter_add_(0, where, values)


@case("torch")
def scatter_reduce_mean():
    t = torch_data()
    nodes = t.index(EDGES, NODES)[:, None].expand(-1, WIDTH).contiguous()
    rows, sums = t.values(EDGES, WIDTH), t.zeros(NODES, WIDTH)
    return lambda: sums.scatter_reduce_(0, nodes, rows, "mean")


@case("torch")
def put_accumulate():
    t = torch_data()
    where, values, sums = t.index(EDGES, NODES), t.values(EDGES), t.zeros(NODES)
    return lambda: sums.put_(where, values, accumulate=True)


@case("torch")
def index_put_accumulate():
    t = torch_data()
    where, rows, sums = t.index(20_000, NODES), t.values(20_000, WIDTH), t.zeros(NODES, WIDTH)
    return lambda: sums.index_put_((where,), rows, accumulate=True)


@case("torch")
def bincount_weights():
    t = torch_data()
    where, weights = t.index(500_000, 4096), t.values(500_000)
    return lambda: t.torch.bincount(where, weights, 4096)


@case("torch")
def histogram_counts():
    t = torch_data()
    values = t.values(500_000)
    return lambda: t.torch.histc(values, 256, -4, 4)


@case("torch")
def grid_sample_2d():
    t = torch_data()
    image = t.values(2, 8, 128, 128, grad=True)
    grid = (t.torch.rand(2, 128, 128, 2, generator=t.draw) * 2 - 1).cuda()
    return t.backward(t.f.grid_sample(image, grid, align_corners=False))


@case("torch")
def grid_sample_3d():
    t = torch_data()
    image = t.values(1, 4, 32, 32, 32, grad=True)
    grid = (t.torch.rand(1, 32, 32, 32, 3, generator=t.draw) * 2 - 1).cuda()
    return t.backward(t.f.grid_sample(image, grid, align_corners=False))


def interpolated(shape, size, mode):
    t = torch_data()
    return t.backward(t.f.interpolate(t.values(*shape, grad=True), size=size, mode=mode, align_corners=False))


@case("torch")
def bilinear_backward():
    return interpolated((2, 8, 96, 96), (150, 170), "bilinear")


@case("torch")
def bicubic_backward():
    return interpolated((2, 4, 96, 96), (150, 170), "bicubic")


@case("torch")
def trilinear_backward():
    return interpolated((1, 4, 24, 24, 24), (40, 44, 48), "trilinear")


@case("torch")
def reflection_pad_backward():
    t = torch_data()
    return t.backward(t.f.pad(t.values(2, 16, 128, 128, grad=True), (5, 5, 5, 5), mode="reflect"))


@case("torch")
def replication_pad_backward():
    t = torch_data()
    return t.backward(t.f.pad(t.values(2, 16, 128, 128, grad=True), (5, 5, 5, 5), mode="replicate"))


@case("torch")
def adaptive_average_backward():
    t = torch_data()
    return t.backward(t.f.adaptive_avg_pool2d(t.values(2, 32, 60, 60, grad=True), (17, 19)))


@case("torch")
def adaptive_max_backward():
    t = torch_data()
    return t.backward(t.f.adaptive_max_pool2d(t.values(2, 32, 60, 60, grad=True), (17, 19)))


@case("torch")
def fractional_max_backward():
    t = torch_data()
    pool = t.torch.nn.FractionalMaxPool2d(3, output_size=(40, 40))
    return t.backward(pool(t.values(2, 16, 100, 100, grad=True)))


@case("torch")
def bag_max_backward():
    t = torch_data()
    bag = t.torch.nn.EmbeddingBag(2000, 64, mode="max").cuda()
    return t.backward(bag(t.index(4096 * 16, 2000).view(4096, 16)))


@case("torch")
def bag_sum_weights_backward():
    t = torch_data()
    bag = t.torch.nn.EmbeddingBag(2000, 64, mode="sum").cuda()
    weights = t.values(2048, 16, grad=True)
    return t.backward(bag(t.index(2048 * 16, 2000).view(2048, 16), per_sample_weights=weights))


@case("torch")
def cross_distance_backward():
    t = torch_data()
    return t.backward(t.torch.cdist(t.values(512, 16, grad=True), t.values(512, 16), p=1.0))


@case("torch")
def graph_convolution():
    t = torch_data()
    nn = need("torch_geometric.nn")
    layer = nn.GCNConv(WIDTH, WIDTH, normalize=False).cuda()
    edges = t.torch.stack([t.index(EDGES, NODES), t.index(EDGES, NODES)])
    return t.backward(layer(t.values(NODES, WIDTH, grad=True), edges))


@case("torch")
def graph_attention():
    t = torch_data()
    nn = need("torch_geometric.nn")
    layer = nn.GATConv(WIDTH, 8, heads=4).cuda()
    edges = t.torch.stack([t.index(20_000, 2048), t.index(20_000, 2048)])
    return t.backward(layer(t.values(2048, WIDTH, grad=True), edges))


# Torchvision.

def regions(t):
    corners = t.torch.rand(64, 2, generator=t.draw) * 60
    first = t.torch.zeros(64, 1)
    return t.torch.cat([first, corners, corners + 40], 1).cuda()


@case("vision")
def roi_align_backward():
    t = torch_data()
    ops = need("torchvision.ops")
    return t.backward(ops.roi_align(t.values(1, 32, 100, 100, grad=True), regions(t), (7, 7)))


@case("vision")
def roi_pool_backward():
    t = torch_data()
    ops = need("torchvision.ops")
    return t.backward(ops.roi_pool(t.values(1, 32, 100, 100, grad=True), regions(t), (7, 7)))


@case("vision")
def deformable_backward():
    t = torch_data()
    ops = need("torchvision.ops")
    image, weight = t.values(1, 16, 64, 64, grad=True), t.values(16, 16, 3, 3, grad=True)
    return t.backward(ops.deform_conv2d(image, t.values(1, 18, 64, 64, grad=True), weight, padding=1))


# Sparse matrices.

def csr():
    t = torch_data()
    where = t.torch.stack([t.index(EDGES, NODES), t.index(EDGES, NODES)])
    return t, t.torch.sparse_coo_tensor(where, t.values(EDGES), (NODES, NODES)).coalesce()


@case("sparse")
def sparse_coo_times_matrix():
    t, matrix = csr()
    dense = t.values(NODES, WIDTH)
    return lambda: t.torch.sparse.mm(matrix, dense)


@case("sparse")
def sparse_csr_times_matrix():
    t, matrix = csr()
    rows, dense = matrix.to_sparse_csr(), t.values(NODES, WIDTH)
    return lambda: rows @ dense


@case("sparse")
def sparse_csr_times_vector():
    t, matrix = csr()
    rows, dense = matrix.to_sparse_csr(), t.values(NODES)
    return lambda: rows @ dense


@case("sparse")
def sparse_csr_transposed_times_matrix():
    t, matrix = csr()
    columns, dense = matrix.to_sparse_csr().t(), t.values(NODES, WIDTH)
    return lambda: columns @ dense


# torch.compile.

def compiled(function, *arguments):
    t = torch_data()
    made = t.torch.compile(function)
    return lambda: made(*arguments)


@case("compiled")
def compiled_index_add():
    t = torch_data()
    sums, nodes, rows = t.zeros(NODES, WIDTH), t.index(EDGES, NODES), t.values(EDGES, WIDTH)
    return compiled(lambda s, n, r: t.torch.index_add(s, 0, n, r * 2), sums, nodes, rows)


@case("compiled")
def compiled_scatter_halves():
    t = torch_data()
    half = t.torch.float16
    sums, nodes, rows = t.zeros(NODES, WIDTH, dtype=half), t.index(EDGES, NODES), t.values(EDGES, WIDTH, dtype=half)
    return compiled(lambda s, n, r: t.torch.index_add(s, 0, n, r * 2), sums, nodes, rows)


@case("compiled")
def compiled_embedding_backward():
    t = torch_data()
    table, words = t.values(2000, 64, grad=True), t.index(4096 * 4, 2000)
    step = t.torch.compile(lambda w, i: t.f.embedding(i, w).square().sum())
    return lambda: step(table, words).backward()


# Triton.

def triton_kernels():
    triton, tl = need("triton"), need("triton.language")
    globals().update(triton=triton, tl=tl)

    @triton.jit
    def add_1d(values, where, sums, count, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < count
        tl.atomic_add(sums + tl.load(where + at, inside, 0), tl.load(values + at, inside, 0.0), inside)

    @triton.jit
    def add_2d(values, where, sums, count, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
        row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        column = tl.arange(0, COLUMNS)
        inside = (row < count)[:, None]
        to = tl.load(where + row, row < count, 0)
        value = tl.load(values + row[:, None] * COLUMNS + column[None, :], inside, 0.0)
        tl.atomic_add(sums + to[:, None] * COLUMNS + column[None, :], value, inside)

    @triton.jit
    def split_product(a, b, c, m, n, k, PART: tl.constexpr, TILE: tl.constexpr):
        row = tl.program_id(0) * TILE + tl.arange(0, TILE)
        column = tl.program_id(1) * TILE + tl.arange(0, TILE)
        total = tl.zeros((TILE, TILE), tl.float32)
        for first in range(0, PART, TILE):
            inner = tl.program_id(2) * PART + first + tl.arange(0, TILE)
            left = tl.load(a + row[:, None] * k + inner[None, :])
            right = tl.load(b + inner[:, None] * n + column[None, :])
            total += tl.dot(left, right)
        tl.atomic_add(c + row[:, None] * n + column[None, :], total)

    return add_1d, add_2d, split_product


@case("triton")
def triton_add_1d():
    t, (kernel, _, _) = torch_data(), triton_kernels()
    values, where, sums = t.values(500_000), t.index(500_000, NODES), t.zeros(NODES)
    return lambda: kernel[(489,)](values, where, sums, 500_000, BLOCK=1024)


@case("triton")
def triton_add_by_int32():
    """Whose layouts of index and value differ, so that it moves one of them by LDSM."""
    t, (kernel, _, _) = torch_data(), triton_kernels()
    values, where, sums = t.values(400_003), t.index(400_003, 256).to(t.torch.int32), t.zeros(256)
    return lambda: kernel[(391,)](values, where, sums, 400_003, BLOCK=1024)


@case("triton")
def triton_add_2d():
    t, (_, kernel, _) = torch_data(), triton_kernels()
    values, where, sums = t.values(EDGES, WIDTH), t.index(EDGES, NODES), t.zeros(NODES, WIDTH)
    return lambda: kernel[((EDGES + 31) // 32,)](values, where, sums, EDGES, ROWS=32, COLUMNS=WIDTH)


@case("triton")
def triton_add_2d_halves():
    t, (_, kernel, _) = torch_data(), triton_kernels()
    half = t.torch.float16
    values, where, sums = t.values(EDGES, WIDTH, dtype=half), t.index(EDGES, NODES), t.zeros(NODES, WIDTH, dtype=half)
    return lambda: kernel[((EDGES + 31) // 32,)](values, where, sums, EDGES, ROWS=32, COLUMNS=WIDTH)


@case("triton")
def triton_split_product():
    t, (_, _, kernel) = torch_data(), triton_kernels()
    half = t.torch.float16
    a, b, c = t.values(256, 4096, dtype=half), t.values(4096, 256, dtype=half), t.zeros(256, 256)
    return lambda: kernel[(4, 4, 8)](a, b, c, 256, 256, 4096, PART=512, TILE=64)


# JAX.

def jax_data():
    jax, numpy = need("jax"), need("numpy")
    draw = numpy.random.default_rng(1)
    nodes = jax.numpy.asarray(draw.integers(0, NODES, EDGES).astype("int32"))
    rows = jax.numpy.asarray(draw.standard_normal((EDGES, WIDTH)).astype("float32"))
    return jax, nodes, rows


@case("jax")
def jax_scatter_add():
    jax, nodes, rows = jax_data()
    add = jax.jit(lambda n, r: jax.numpy.zeros((NODES, WIDTH), r.dtype).at[n].add(r))
    return lambda: add(nodes, rows).block_until_ready()


@case("jax")
def jax_scatter_halves():
    jax, nodes, rows = jax_data()
    rows = rows.astype("float16")
    add = jax.jit(lambda n, r: jax.numpy.zeros((NODES, WIDTH), r.dtype).at[n].add(r))
    return lambda: add(nodes, rows).block_until_ready()


@case("jax")
def jax_segment_sum():
    jax, nodes, rows = jax_data()
    add = jax.jit(lambda n, r: jax.ops.segment_sum(r[:, 0], n, NODES))
    return lambda: add(nodes, rows).block_until_ready()


@case("jax")
def jax_gather_gradient():
    jax, nodes, rows = jax_data()
    step = jax.jit(jax.grad(lambda table, n: (table[n] ** 2).sum()))
    return lambda: step(rows[:NODES], nodes).block_until_ready()


@case("jax")
def jax_bincount():
    jax, nodes, rows = jax_data()
    count = jax.jit(lambda n, r: jax.numpy.bincount(n, r[:, 0], length=NODES))
    return lambda: count(nodes, rows).block_until_ready()


# CuPy, which compiles with NVRTC.

RAW = r"""
extern "C" __global__ void raw_bins(const float* values, const int* where, float* sums, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(sums + where[i], values[i]);
  }
}
extern "C" __global__ void raw_shared_bins(const float* values, const int* where, float* sums, int count) {
  __shared__ float kept[256];
  kept[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(kept + where[i] % 256, values[i]);
  }
  __syncthreads();
  atomicAdd(sums + threadIdx.x, kept[threadIdx.x]);
}
extern "C" __global__ void raw_forces(const float4* bodies, float4* forces, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0, y = 0, z = 0;
  const float4 own = bodies[i];
  for (int j = blockIdx.y * 64; j < blockIdx.y * 64 + 64; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float f = other.w * r * r * r;
    x += f * dx; y += f * dy; z += f * dz;
  }
  float* to = reinterpret_cast<float*>(forces + i);
  atomicAdd(to, x); atomicAdd(to + 1, y); atomicAdd(to + 2, z);
}
extern "C" __global__ void raw_neighbours(const float4* atoms, const int* near, float4* forces, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = atoms[i];
  float x = 0, y = 0, z = 0;
  for (int k = 0; k < 32; ++k) {
    const int j = near[k * count + i];
    const float4 other = atoms[j];
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float r = 1.0f / (dx * dx + dy * dy + dz * dz + 0.01f);
    const float f = (r * r * r - 0.5f) * r * r * r * r;
    x += f * dx; y += f * dy; z += f * dz;
    atomicAdd(&forces[j].x, -f * dx);
  }
  atomicAdd(&forces[i].x, x); atomicAdd(&forces[i].y, y); atomicAdd(&forces[i].z, z);
}
extern "C" __global__ void raw_gather(const float* table, unsigned mask, float* sums) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float total = 0;
  unsigned at = i * 2654435761u;
  for (int k = 0; k < 16; ++k) {
    at = (at ^ at >> 15) * 2246822519u + k;
    total += table[at & mask];
  }
  atomicAdd(sums + (i & 8191), total);
}
"""


def cupy_data():
    cupy, numpy = need("cupy"), need("numpy")
    draw = numpy.random.default_rng(1)
    where = cupy.asarray(draw.integers(0, NODES, 500_000).astype("int32"))
    values = cupy.asarray(draw.standard_normal(500_000).astype("float32"))
    return cupy, where, values, cupy.asarray(numpy.zeros(NODES, "float32"))


@case("cupy")
def cupy_add_at():
    cupy, where, values, sums = cupy_data()
    return lambda: cupy.add.at(sums, where, values)


@case("cupy")
def cupy_bincount():
    cupy, where, values, _ = cupy_data()
    return lambda: cupy.bincount(where, values, NODES)


@case("cupy")
def cupy_raw_bins():
    cupy, where, values, sums = cupy_data()
    kernel = cupy.RawKernel(RAW, "raw_bins")
    return lambda: kernel((256,), (256,), (values, where, sums, 500_000))


@case("cupy")
def cupy_raw_neighbours():
    cupy = need("cupy")
    numpy = need("numpy")
    draw = numpy.random.default_rng(1)
    atoms = 1 << 16
    near = (numpy.arange(atoms)[None, :] + draw.integers(-100, 100, (32, atoms))) % atoms
    places = cupy.asarray(draw.standard_normal((atoms, 4)).astype("float32"))
    listed, forces = cupy.asarray(near.astype("int32")), cupy.asarray(numpy.zeros((atoms, 4), "float32"))
    kernel = cupy.RawKernel(RAW, "raw_neighbours")
    return lambda: kernel((atoms // 256,), (256,), (places, listed, forces, atoms))


def cupy_gather(words):
    cupy, _, _, sums = cupy_data()
    numpy = need("numpy")
    table = cupy.zeros(words, "float32")
    kernel = cupy.RawKernel(RAW, "raw_gather")
    return lambda: kernel((512,), (256,), (table, numpy.uint32(words - 1), sums))


@case("cupy")
def cupy_raw_gather_l2():
    return cupy_gather(1 << 22)


@case("cupy")
def cupy_raw_gather_dram():
    return cupy_gather(1 << 28)


@case("cupy")
def cupy_raw_shared_bins():
    cupy, where, values, sums = cupy_data()
    kernel = cupy.RawKernel(RAW, "raw_shared_bins")
    return lambda: kernel((256,), (256,), (values, where, sums, 500_000))


@case("cupy")
def cupy_raw_forces():
    cupy, _, values, _ = cupy_data()
    kernel = cupy.RawKernel(RAW, "raw_forces")
    forces = cupy.asarray(cupy.zeros(4096 * 4, "float32"))
    return lambda: kernel((32, 64), (128,), (values[:4096 * 4], forces, 4096))


@case("cupy")
def cupy_sparse_product():
    cupy, where, values, _ = cupy_data()
    sparse = need("cupyx.scipy.sparse")
    matrix = sparse.coo_matrix((values[:EDGES], (where[:EDGES], where[EDGES:2 * EDGES])), shape=(NODES, NODES)).tocsr()
    vector = values[:NODES]
    return lambda: matrix.T @ vector


@case("cupy")
def cupy_per_thread_stream():
    cupy, where, values, sums = cupy_data()
    kernel = cupy.RawKernel(RAW, "raw_bins")

    def run():
        with cupy.cuda.Stream.ptds:
            kernel((256,), (256,), (values, where, sums, 500_000))
        cupy.cuda.Stream.ptds.synchronize()
    return run


# Numba.

@case("numba")
def numba_bins():
    numba, numpy = need("numba"), need("numpy")
    cuda = need("numba.cuda")

    @cuda.jit
    def bins(values, where, sums):
        at = cuda.grid(1)
        if at < values.size:
            cuda.atomic.add(sums, where[at], values[at])

    draw = numpy.random.default_rng(1)
    values = cuda.to_device(draw.standard_normal(200_000).astype("float32"))
    where = cuda.to_device(draw.integers(0, NODES, 200_000).astype("int32"))
    sums = cuda.to_device(numpy.zeros(NODES, "float32"))
    return lambda: bins[(200_000 + 255) // 256, 256](values, where, sums)


# Streams, graphs, processes, all of PyTorch.

@case("graphs")
def torch_side_stream():
    t = torch_data()
    add, stream = index_add(t.torch.float32), t.torch.cuda.Stream()

    def run():
        with t.torch.cuda.stream(stream):
            add()
        stream.synchronize()
    return run


@case("graphs")
def torch_cuda_graph():
    t = torch_data()
    nodes, rows, sums = t.index(EDGES, NODES), t.values(EDGES, WIDTH), t.zeros(NODES, WIDTH)
    graph = t.torch.cuda.CUDAGraph()
    with t.torch.cuda.graph(graph):
        sums.index_add_(0, nodes, rows)
    return graph.replay


@case("graphs")
def triton_cuda_graph():
    call, t = triton_add_1d(), torch_data()
    graph = t.torch.cuda.CUDAGraph()
    call()  # compiles
    with t.torch.cuda.graph(graph):
        call()
    return graph.replay


def add_in_child(rank):
    t = torch_data()
    index_add(t.torch.float32 if rank == 0 else t.torch.float64)()
    t.torch.cuda.synchronize()


@case("graphs")
def torch_two_processes():
    processes = need("torch.multiprocessing")
    return lambda: processes.spawn(add_in_child, nprocs=2)


def synchronize():
    for name in ("torch", "cupy"):
        library = sys.modules.get(name)
        if library is not None:
            library.cuda.synchronize() if name == "torch" else library.cuda.Device().synchronize()


@contextlib.contextmanager
def turn(path):
    """The GPU: alone for a program whose launches are timed, with others for one that is recorded or counted."""
    if path is None:
        yield
        return
    is_timed = "time" in os.path.basename(os.environ.get("CUDA_INJECTION64_PATH", ""))
    with open(path, "w", encoding="ascii") as gpu, open(path + ".next", "w", encoding="ascii") as following:
        fcntl.flock(following, fcntl.LOCK_EX)  # who waits to be alone lets nobody else in
        fcntl.flock(gpu, fcntl.LOCK_EX if is_timed else fcntl.LOCK_SH)
        fcntl.flock(following, fcntl.LOCK_UN)
        yield


def run(name, repeat, turns):
    """Whether it ran; says what it was."""
    try:
        call = CASES[name][1]()
        synchronize()
        with turn(turns):
            for _ in range(1 if name in ONCE else repeat):
                call()
            synchronize()
    except Missing as error:
        print(f"{name}: not run: {error} is not installed")
        return True
    except Exception:  # pylint: disable=broad-except
        print(f"{name}: failed:\n{traceback.format_exc()}", file=sys.stderr)
        return False
    print(f"{name}: ran", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--list", action="store_true", help="print group and name of each")
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("--turns", metavar="FILE", help="where programs that run at once keep whose turn it is")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    if arguments.list:
        for name, (group, _) in CASES.items():
            print(group, name)
        return 0
    groups = {group for group, _ in CASES.values()}
    unknown = [name for name in arguments.cases if name not in CASES and name not in groups]
    if unknown or not arguments.cases:
        parser.error(f"{unknown[0]}: no such case" if unknown else "name a case or a group")
    wanted = [name for name, (group, _) in CASES.items() if name in arguments.cases or group in arguments.cases]
    return 0 if all([run(name, arguments.repeat, arguments.turns) for name in wanted]) else 1


if __name__ == "__main__":
    sys.exit(main())
