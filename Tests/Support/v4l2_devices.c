/*
 * Simulated Video4Linux devices for tests: a library for LD_PRELOAD that implements stat, open, ioctl, mmap, poll and
 * close for /dev/videoN and /dev/v4l/by-id/NAME. Every other call goes to the kernel.
 *
 *     cc -shared -fPIC -O2 -o v4l2_devices.so v4l2_devices.c
 *
 * A device exists while the directory $V4L2_DEVICES contains a file with its name. The file is read at every call, so
 * a test can change or disconnect a device in use. It has one key per line:
 *
 *     formats NV12 YUYV      pixel formats
 *     sizes 640x480 320x240  or `steps` for 16x16 to 4096x4096 in steps of 16x8
 *     rate 30                the maximum frame rate; `fixed 60`: the only one, without VIDIOC_S_PARM
 *     payload PATH           for H264, HEVC and MJPG: each buffer's length (32 bits, little-endian) and bytes, repeated
 *     fault NAME             see the list of faults below
 *
 * A raw picture has luma 60 in the left half and 200 in the right half, Cb 90 and Cr 170, and a white bar of 16 rows
 * that moves down by 16 rows per picture. Its rows have 32 bytes of padding.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES = 16, BUFFERS = 8, FORMATS = 8, SIZES = 8, PADDING = 32 };

/*
 * Faults:
 *
 *     denied       open fails with EACCES
 *     notv4l       another kind of character device
 *     metadata     no video capture
 *     busy         another program captures
 *     gone         every call fails with ENODEV, and poll reports an error
 *     eio          reading fails
 *     silent       no pictures
 *     short        half of each picture
 *     flagged      V4L2_BUF_FLAG_ERROR
 *     corrupt      noise instead of each picture
 *     overlong     a length greater than the buffer's
 *     flaky        every third picture is corrupt
 *     unstamped    time stamps of an unknown clock
 *     otherformat  VIDIOC_S_FMT sets another format
 */
struct settings {
    uint32_t formats[FORMATS];
    int format_count;
    int sizes[SIZES][2];
    int size_count;
    bool steps;
    double rate;
    bool fixed;
    char payload[512];
    char fault[32];
};

struct device {
    int descriptor; /* 0: free */
    char name[128];
    uint32_t format;
    int width, height;
    double rate;
    bool streaming;
    struct timespec start;
    uint64_t taken; /* pictures that were read, or lost because no buffer was free */
    void *memory[BUFFERS];
    size_t length;
    int buffers;
    int queue[BUFFERS];
    int queued;
    uint8_t *payload;
    size_t payload_size, payload_position;
};

static struct device devices[DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int fail(int code) {
    errno = code;
    return -1;
}

/* The device's name, or NULL for every other path. */
static const char *name_of(const char *path) {
    if (!getenv("V4L2_DEVICES") || !path) return NULL;
    if (strncmp(path, "/dev/video", 10) == 0) return path + 5;
    if (strncmp(path, "/dev/v4l/by-id/", 15) == 0) return path + 15;
    return NULL;
}

static bool read_settings(const char *name, struct settings *settings) {
    memset(settings, 0, sizeof *settings);
    settings->rate = 30;
    char path[1024], line[1024];
    snprintf(path, sizeof path, "%s/%s", getenv("V4L2_DEVICES"), name);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        char *rest = NULL;
        char *key = strtok_r(line, " \n", &rest);
        for (char *value; key && (value = strtok_r(NULL, " \n", &rest));) {
            if (!strcmp(key, "formats") && strlen(value) == 4 && settings->format_count < FORMATS)
                settings->formats[settings->format_count++] = v4l2_fourcc(value[0], value[1], value[2], value[3]);
            if (!strcmp(key, "sizes")) {
                int *size = settings->sizes[settings->size_count];
                if (!strcmp(value, "steps")) settings->steps = true;
                else if (settings->size_count < SIZES && sscanf(value, "%dx%d", &size[0], &size[1]) == 2)
                    settings->size_count++;
            }
            if (!strcmp(key, "rate") || !strcmp(key, "fixed")) settings->rate = atof(value);
            if (!strcmp(key, "fixed")) settings->fixed = true;
            if (!strcmp(key, "payload")) snprintf(settings->payload, sizeof settings->payload, "%s", value);
            if (!strcmp(key, "fault")) snprintf(settings->fault, sizeof settings->fault, "%s", value);
        }
    }
    fclose(file);
    return true;
}

static bool has(const struct settings *settings, const char *fault) { return strcmp(settings->fault, fault) == 0; }

static struct device *device_of(int descriptor) {
    for (int index = 0; descriptor > 0 && index < DEVICES; index++)
        if (devices[index].descriptor == descriptor) return &devices[index];
    return NULL;
}

/* MARK: Files */

int stat(const char *path, struct stat *status) {
    const char *name = name_of(path);
    if (!name) return syscall(SYS_newfstatat, AT_FDCWD, path, status, 0);
    struct settings settings;
    if (!read_settings(name, &settings)) return fail(ENOENT);
    memset(status, 0, sizeof *status);
    status->st_mode = S_IFCHR | 0660;
    status->st_rdev = has(&settings, "notv4l") ? makedev(10, 130) : makedev(81, 0);
    return 0;
}

static int open_path(const char *path, int flags, mode_t mode) {
    const char *name = name_of(path);
    if (!name) return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    struct settings settings;
    if (!read_settings(name, &settings)) return fail(ENOENT);
    if (has(&settings, "denied")) return fail(EACCES);
    if (has(&settings, "gone")) return fail(ENODEV);
    int descriptor = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
    if (descriptor <= 0) return descriptor;
    pthread_mutex_lock(&lock);
    for (int index = 0; index < DEVICES; index++) {
        struct device *device = &devices[index];
        if (device->descriptor) continue;
        memset(device, 0, sizeof *device);
        device->descriptor = descriptor;
        device->rate = settings.rate;
        snprintf(device->name, sizeof device->name, "%s", name);
        pthread_mutex_unlock(&lock);
        return descriptor;
    }
    pthread_mutex_unlock(&lock);
    syscall(SYS_close, descriptor);
    return fail(EMFILE);
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_path(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_path(path, flags, mode);
}

int close(int descriptor) {
    pthread_mutex_lock(&lock);
    struct device *device = device_of(descriptor);
    if (device) {
        free(device->payload);
        device->descriptor = 0;
    }
    pthread_mutex_unlock(&lock);
    return syscall(SYS_close, descriptor);
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    pthread_mutex_lock(&lock);
    struct device *device = device_of(descriptor);
    if (device) {
        size_t index = offset / 4096;
        void *memory = (void *)syscall(
            SYS_mmap, NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (index < BUFFERS) device->memory[index] = memory;
        pthread_mutex_unlock(&lock);
        return memory;
    }
    pthread_mutex_unlock(&lock);
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

/* MARK: Pictures */

static double now_since(struct timespec start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - start.tv_sec) + (now.tv_nsec - start.tv_nsec) / 1e9;
}

/* The number of pictures that the sensor has made and the program has not read. */
static uint64_t waiting(struct device *device, const struct settings *settings) {
    if (!device->streaming || has(settings, "silent")) return 0;
    uint64_t made = now_since(device->start) * device->rate;
    return made > device->taken ? made - device->taken : 0;
}

int poll(struct pollfd *entries, nfds_t count, int timeout) {
    pthread_mutex_lock(&lock);
    bool is_device = count == 1 && device_of(entries[0].fd);
    pthread_mutex_unlock(&lock);
    if (!is_device) {
        struct timespec limit = {timeout / 1000, timeout % 1000 * 1000000L};
        return syscall(SYS_ppoll, entries, count, timeout < 0 ? NULL : &limit, NULL, 8);
    }
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        pthread_mutex_lock(&lock);
        struct device *device = device_of(entries[0].fd);
        struct settings settings;
        bool exists = device && read_settings(device->name, &settings);
        short events = 0;
        if (!exists || has(&settings, "gone")) events = POLLERR | POLLHUP;
        else if (device->queued > 0 && waiting(device, &settings) > 0) events = POLLIN;
        else if (device->queued > 0 && has(&settings, "eio")) events = POLLIN;
        pthread_mutex_unlock(&lock);
        entries[0].revents = events;
        if (events) return 1;
        if (timeout >= 0 && now_since(start) * 1000 >= timeout) return 0;
        struct timespec pause = {0, 2000000};
        nanosleep(&pause, NULL);
    }
}

static uint32_t stride(const struct device *device) {
    switch (device->format) {
    case V4L2_PIX_FMT_YUYV:
    case V4L2_PIX_FMT_UYVY: return 2 * device->width + PADDING;
    case V4L2_PIX_FMT_NV12:
    case V4L2_PIX_FMT_YUV420: return device->width + PADDING;
    default: return 0;
    }
}

static size_t picture_size(const struct device *device) {
    switch (device->format) {
    case V4L2_PIX_FMT_YUYV:
    case V4L2_PIX_FMT_UYVY: return (size_t)stride(device) * device->height;
    case V4L2_PIX_FMT_NV12:
    case V4L2_PIX_FMT_YUV420: return (size_t)stride(device) * device->height * 3 / 2;
    default: return 1 << 20;
    }
}

static void paint(const struct device *device, uint8_t *target, uint64_t number) {
    int width = device->width, height = device->height;
    uint32_t row = stride(device);
    int bar = number * 16 % height;
    for (int y = 0; y < height; y++) {
        bool is_bar = y >= bar && y < bar + 16;
        for (int x = 0; x < width; x++) {
            uint8_t luma = is_bar ? 235 : x < width / 2 ? 60 : 200;
            uint8_t *place = target + (size_t)y * row;
            if (device->format == V4L2_PIX_FMT_YUYV) {
                place[2 * x] = luma;
                place[2 * x + 1] = x % 2 ? 170 : 90;
            } else if (device->format == V4L2_PIX_FMT_UYVY) {
                place[2 * x] = x % 2 ? 170 : 90;
                place[2 * x + 1] = luma;
            } else {
                place[x] = luma;
            }
        }
    }
    uint8_t *chroma = target + (size_t)row * height;
    if (device->format == V4L2_PIX_FMT_NV12)
        for (int y = 0; y < height / 2; y++)
            for (int x = 0; x < width; x++) chroma[(size_t)y * row + x] = x % 2 ? 170 : 90;
    if (device->format == V4L2_PIX_FMT_YUV420) {
        memset(chroma, 90, (size_t)row / 2 * (height / 2));
        memset(chroma + (size_t)row / 2 * (height / 2), 170, (size_t)row / 2 * (height / 2));
    }
}

static void load_payload(struct device *device, const struct settings *settings) {
    free(device->payload);
    device->payload = NULL;
    device->payload_size = device->payload_position = 0;
    FILE *file = fopen(settings->payload, "re");
    if (!file) return;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    device->payload = malloc(size);
    device->payload_size = fread(device->payload, 1, size, file);
    fclose(file);
}

static size_t next_payload(struct device *device, uint8_t *target) {
    if (device->payload_position + 4 > device->payload_size) device->payload_position = 0;
    if (device->payload_size < 4) return 0;
    uint32_t length;
    memcpy(&length, device->payload + device->payload_position, 4);
    device->payload_position += 4;
    if (length > device->length || length > device->payload_size - device->payload_position) abort();
    memcpy(target, device->payload + device->payload_position, length);
    device->payload_position += length;
    return length;
}

static int dequeue(struct device *device, const struct settings *settings, struct v4l2_buffer *buffer) {
    if (has(settings, "eio")) return fail(EIO);
    if (!device->streaming || device->queued == 0) return fail(EAGAIN);
    uint64_t ready = waiting(device, settings);
    if (ready == 0) return fail(EAGAIN);
    /* Pictures without a free buffer are lost. */
    if (ready > (uint64_t)device->queued) device->taken += ready - device->queued;
    uint64_t number = device->taken++;
    int index = device->queue[0];
    memmove(device->queue, device->queue + 1, sizeof(int) * --device->queued);
    uint8_t *target = device->memory[index];
    size_t length = picture_size(device);
    if (stride(device)) paint(device, target, number);
    else length = next_payload(device, target);
    if (has(settings, "corrupt") || (has(settings, "flaky") && number % 3 == 0))
        for (size_t place = 0; place < length; place++) target[place] = place * 2654435761u >> 13;
    memset(buffer, 0, sizeof *buffer);
    buffer->type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer->memory = V4L2_MEMORY_MMAP;
    buffer->index = index;
    buffer->length = device->length;
    buffer->bytesused = has(settings, "short") ? length / 2 : has(settings, "overlong") ? device->length + 1 : length;
    buffer->sequence = number;
    double time = device->start.tv_sec + device->start.tv_nsec / 1e9 + number / device->rate;
    buffer->timestamp.tv_sec = time;
    buffer->timestamp.tv_usec = (time - buffer->timestamp.tv_sec) * 1e6;
    buffer->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    if (has(settings, "unstamped")) {
        buffer->flags = 0;
        buffer->timestamp.tv_sec = 12345;
    }
    if (has(settings, "flagged")) buffer->flags |= V4L2_BUF_FLAG_ERROR;
    return 0;
}

/* MARK: Controls */

static void choose_size(struct device *device, const struct settings *settings, int width, int height) {
    device->width = width;
    device->height = height;
    if (settings->steps) return;
    for (int index = 0; index < settings->size_count; index++)
        if (settings->sizes[index][0] == width && settings->sizes[index][1] == height) return;
    device->width = settings->size_count ? settings->sizes[0][0] : 640;
    device->height = settings->size_count ? settings->sizes[0][1] : 480;
}

static int control(struct device *device, const struct settings *settings, unsigned long request, void *argument) {
    if (has(settings, "gone")) return fail(ENODEV);
    switch (request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *capability = argument;
        memset(capability, 0, sizeof *capability);
        strcpy((char *)capability->card, "Test camera");
        uint32_t capture = has(settings, "metadata") ? V4L2_CAP_META_CAPTURE : V4L2_CAP_VIDEO_CAPTURE;
        capability->device_caps = capture | V4L2_CAP_STREAMING;
        /* Like UVC: the whole camera's capabilities, for each of its devices. */
        capability->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING
            | V4L2_CAP_DEVICE_CAPS;
        return 0;
    }
    case VIDIOC_ENUM_FMT: {
        struct v4l2_fmtdesc *format = argument;
        if (format->index >= (uint32_t)settings->format_count) return fail(EINVAL);
        format->pixelformat = settings->formats[format->index];
        return 0;
    }
    case VIDIOC_ENUM_FRAMESIZES: {
        struct v4l2_frmsizeenum *size = argument;
        if (settings->steps) {
            if (size->index > 0) return fail(EINVAL);
            size->type = V4L2_FRMSIZE_TYPE_STEPWISE;
            size->stepwise = (struct v4l2_frmsize_stepwise){16, 4096, 16, 16, 4096, 8};
            return 0;
        }
        if (size->index >= (uint32_t)settings->size_count) return fail(EINVAL);
        size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        size->discrete.width = settings->sizes[size->index][0];
        size->discrete.height = settings->sizes[size->index][1];
        return 0;
    }
    case VIDIOC_S_FMT: {
        if (has(settings, "busy")) return fail(EBUSY);
        /* Like the kernel: the program with buffers owns the device. */
        for (int index = 0; index < DEVICES; index++)
            if (devices[index].descriptor && devices[index].buffers && !strcmp(devices[index].name, device->name))
                return fail(EBUSY);
        struct v4l2_pix_format *picture = &((struct v4l2_format *)argument)->fmt.pix;
        choose_size(device, settings, picture->width, picture->height);
        device->format = has(settings, "otherformat") ? V4L2_PIX_FMT_GREY : picture->pixelformat;
        picture->width = device->width;
        picture->height = device->height;
        picture->pixelformat = device->format;
        picture->bytesperline = stride(device);
        picture->sizeimage = picture_size(device);
        load_payload(device, settings);
        return 0;
    }
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM: {
        struct v4l2_captureparm *parameters = &((struct v4l2_streamparm *)argument)->parm.capture;
        if (settings->fixed) return fail(ENOTTY);
        struct v4l2_fract *interval = &parameters->timeperframe;
        if (request == VIDIOC_S_PARM && interval->numerator && interval->denominator) {
            double asked = (double)interval->denominator / interval->numerator;
            device->rate = asked < settings->rate ? asked : settings->rate;
        }
        parameters->capability = V4L2_CAP_TIMEPERFRAME;
        interval->numerator = 1000;
        interval->denominator = device->rate * 1000;
        return 0;
    }
    case VIDIOC_REQBUFS: {
        struct v4l2_requestbuffers *buffers = argument;
        if (buffers->count > BUFFERS) buffers->count = BUFFERS;
        device->buffers = buffers->count;
        device->length = (picture_size(device) + 4095) / 4096 * 4096;
        return 0;
    }
    case VIDIOC_QUERYBUF: {
        struct v4l2_buffer *buffer = argument;
        if (buffer->index >= (uint32_t)device->buffers) return fail(EINVAL);
        buffer->length = device->length;
        buffer->m.offset = buffer->index * 4096;
        return 0;
    }
    case VIDIOC_QBUF: {
        struct v4l2_buffer *buffer = argument;
        if (buffer->index >= (uint32_t)device->buffers || device->queued == BUFFERS) return fail(EINVAL);
        for (int place = 0; place < device->queued; place++)
            if (device->queue[place] == (int)buffer->index) return fail(EINVAL);
        device->queue[device->queued++] = buffer->index;
        return 0;
    }
    case VIDIOC_DQBUF: return dequeue(device, settings, argument);
    case VIDIOC_STREAMON:
        device->streaming = true;
        clock_gettime(CLOCK_MONOTONIC, &device->start);
        return 0;
    case VIDIOC_STREAMOFF:
        device->streaming = false;
        device->queued = 0;
        return 0;
    default: return fail(ENOTTY);
    }
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    struct device *device = device_of(descriptor);
    if (!device) {
        pthread_mutex_unlock(&lock);
        return syscall(SYS_ioctl, descriptor, request, argument);
    }
    struct settings settings;
    int result = read_settings(device->name, &settings) ? control(device, &settings, request, argument) : fail(ENODEV);
    int code = errno;
    pthread_mutex_unlock(&lock);
    errno = code;
    return result;
}
