// Part of glibc, but not of Swift's Glibc module.
#include <sys/timex.h>
