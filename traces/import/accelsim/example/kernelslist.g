MemcpyHtoD,0x00007f2ab4a00000,4096
kernel-1.traceg
kernel-2.traceg
