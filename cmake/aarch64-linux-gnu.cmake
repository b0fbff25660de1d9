# SPDX-License-Identifier: Apache-2.0
# Toolchain file: builds on x86-64 for aarch64 with Debian's cross-compiler and libraries of its arm64, and runs
# what was built under qemu-user. docs/tutorial.md has the packages and the command.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# qemu finds a program only by its path.
find_program(QEMU_AARCH64 qemu-aarch64 REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${QEMU_AARCH64})
