#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// Swift can import neither the macros of the ioctl numbers nor the variadic ioctl. Each function returns 0 or errno.

static inline int cv4l2_ioctl(int descriptor, unsigned long request, void *argument) {
    int result;
    do {
        result = ioctl(descriptor, request, argument);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

#define CV4L2_CALL(name, request, type) \
    static inline int cv4l2_##name(int descriptor, type *argument) { \
        return cv4l2_ioctl(descriptor, request, argument); \
    }

CV4L2_CALL(query_capability, VIDIOC_QUERYCAP, struct v4l2_capability)
CV4L2_CALL(enumerate_format, VIDIOC_ENUM_FMT, struct v4l2_fmtdesc)
CV4L2_CALL(enumerate_size, VIDIOC_ENUM_FRAMESIZES, struct v4l2_frmsizeenum)
CV4L2_CALL(set_format, VIDIOC_S_FMT, struct v4l2_format)
CV4L2_CALL(get_parameters, VIDIOC_G_PARM, struct v4l2_streamparm)
CV4L2_CALL(set_parameters, VIDIOC_S_PARM, struct v4l2_streamparm)
CV4L2_CALL(set_controls, VIDIOC_S_EXT_CTRLS, struct v4l2_ext_controls)
CV4L2_CALL(request_buffers, VIDIOC_REQBUFS, struct v4l2_requestbuffers)
CV4L2_CALL(query_buffer, VIDIOC_QUERYBUF, struct v4l2_buffer)
CV4L2_CALL(queue_buffer, VIDIOC_QBUF, struct v4l2_buffer)
CV4L2_CALL(dequeue_buffer, VIDIOC_DQBUF, struct v4l2_buffer)
CV4L2_CALL(start_stream, VIDIOC_STREAMON, int)
CV4L2_CALL(stop_stream, VIDIOC_STREAMOFF, int)

#undef CV4L2_CALL

// Opens only video devices (ENOTTY for other files), because opening can have effects: it starts a watchdog's timer or
// rewinds a tape. Only video devices have major number 81 (Linux, Documentation/admin-guide/devices.txt).
static inline int cv4l2_open(const char *path, int *descriptor) {
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    if (!S_ISCHR(status.st_mode) || major(status.st_rdev) != 81) return ENOTTY;
    *descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return *descriptor < 0 ? errno : 0;
}

static inline int cv4l2_map(int descriptor, size_t length, __u32 offset, void **memory) {
    *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)offset);
    return *memory == MAP_FAILED ? errno : 0;
}

// Waits for a picture. `*events` is 0 after the timeout.
static inline int cv4l2_wait(int descriptor, int milliseconds, short *events) {
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    int result = poll(&entry, 1, milliseconds);
    *events = result > 0 ? entry.revents : 0;
    return result < 0 && errno != EINTR ? errno : 0;
}
