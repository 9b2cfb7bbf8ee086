// Part of glibc: declared only with _GNU_SOURCE, which Swift does not set.
#ifndef IOTVIDEOD_CFILESPACE_H
#define IOTVIDEOD_CFILESPACE_H

#include <sys/types.h>

/// fallocate(2)
extern int fallocate(int file, int mode, off_t offset, off_t length);

/// sync_file_range(2)
extern int sync_file_range(int file, off_t offset, off_t length, unsigned int flags);

#endif
