// Part of glibc, but not of Swift's module of it.
#ifndef IOTVIDEOD_CEXTENDEDATTRIBUTES_H
#define IOTVIDEOD_CEXTENDEDATTRIBUTES_H

#include <sys/xattr.h>

#endif
