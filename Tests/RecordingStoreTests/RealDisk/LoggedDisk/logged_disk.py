"""A disk whose writes and flushes are logged: a FUSE file system with one file, `disk.img`, for a loop device.

    logged_disk.py IMAGE MOUNTPOINT LOG

The kernel's loop device writes each block to the file, and syncs the file where the file system on it asks the disk to
flush its cache. So the log says what a real disk would have been sent, and when it had to be durable. Each entry is the
offset (8 bytes, little-endian), the length (4) and the bytes of a write; a flush has the length 0xFFFFFFFF.
"""

import errno
import stat
import struct
import sys

import mfusepy

FLUSH = 0xFFFFFFFF


class LoggedDisk(mfusepy.Operations):
    use_ns = True

    def __init__(self, image, log):
        with open(image, "rb") as file:
            self.contents = bytearray(file.read())
        # Unbuffered: what was answered is in the log.
        self.log = open(log, "wb", buffering=0)

    def getattr(self, path, fh=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o700, "st_nlink": 2}
        if path != "/disk.img":
            raise mfusepy.FuseOSError(errno.ENOENT)
        return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": len(self.contents)}

    def readdir(self, path, fh):
        return [".", "..", "disk.img"]

    def open(self, path, flags):
        return 0

    def read(self, path, size, offset, fh):
        return bytes(self.contents[offset : offset + size])

    def write(self, path, data, offset, fh):
        if offset + len(data) > len(self.contents):
            raise mfusepy.FuseOSError(errno.ENOSPC)
        self.contents[offset : offset + len(data)] = data
        self.log.write(struct.pack("<QI", offset, len(data)) + data)
        return len(data)

    def fsync(self, path, datasync, fh):
        self.log.write(struct.pack("<QI", 0, FLUSH))
        return 0

    def flush(self, path, fh):
        return 0

    def truncate(self, path, length, fh=None):
        raise mfusepy.FuseOSError(errno.EPERM)


if __name__ == "__main__":
    image, mountpoint, log = sys.argv[1:]
    # One request at a time: the order of the log is that of the disk.
    mfusepy.FUSE(LoggedDisk(image, log), mountpoint, foreground=True, nothreads=True)
