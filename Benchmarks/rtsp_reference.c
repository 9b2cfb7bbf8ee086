/* The reference of rtsp.py: sends the same bytes as the daemon in a loop that does nothing else.
 *
 * Usage: rtsp_reference tcp|udp COUNT FRAMES PACKETS BYTES INTERVAL_NS
 *
 * A child process on core 1 reads and throws away. Each frame goes to each of COUNT readers as one write (TCP: PACKETS
 * interleaved packets of BYTES each) or one message with UDP_SEGMENT. Prints the CPU time of the sender in ns. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum { MAXIMUM = 1024 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void read_all(int *sockets, int count) {
    static char buffer[1 << 18];
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(1, &set);
    sched_setaffinity(0, sizeof set, &set);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int poll = epoll_create1(0);
    for (int index = 0; index < count; index++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = sockets[index]};
        epoll_ctl(poll, EPOLL_CTL_ADD, sockets[index], &event);
    }
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(poll, events, 64, -1);
        for (int index = 0; index < ready; index++) {
            while (recv(events[index].data.fd, buffer, sizeof buffer, MSG_DONTWAIT) > 0) {
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: rtsp_reference tcp|udp COUNT FRAMES PACKETS BYTES INTERVAL_NS\n");
        return 2;
    }
    int is_tcp = strcmp(argv[1], "tcp") == 0;
    int count = atoi(argv[2]), frames = atoi(argv[3]), packets = atoi(argv[4]), bytes = atoi(argv[5]);
    long interval = atol(argv[6]);
    int header = is_tcp ? 4 : 0, total = packets * (bytes + header);
    static unsigned char burst[1 << 20];
    if (count < 1 || count > MAXIMUM || total > (int)sizeof burst || (!is_tcp && total > 65507)) {
        return 2;
    }
    static int senders[MAXIMUM], receivers[MAXIMUM];
    static struct sockaddr_in places[MAXIMUM];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof loopback;
    if (bind(listener, (struct sockaddr *)&loopback, sizeof loopback) < 0 || listen(listener, MAXIMUM) < 0
        || getsockname(listener, (struct sockaddr *)&loopback, &size) < 0) {
        fail("listen");
    }
    for (int index = 0; index < count; index++) {
        if (is_tcp) {
            receivers[index] = socket(AF_INET, SOCK_STREAM, 0);
            if (connect(receivers[index], (struct sockaddr *)&loopback, sizeof loopback) < 0) {
                fail("connect");
            }
            senders[index] = accept(listener, NULL, NULL);
            int on = 1;
            setsockopt(senders[index], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        } else {
            struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
            receivers[index] = socket(AF_INET, SOCK_DGRAM, 0);
            int room = 4 << 20;
            setsockopt(receivers[index], SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
            size = sizeof places[index];
            if (bind(receivers[index], (struct sockaddr *)&any, sizeof any) < 0
                || getsockname(receivers[index], (struct sockaddr *)&places[index], &size) < 0) {
                fail("bind");
            }
        }
    }
    pid_t child = fork();
    if (child == 0) {
        read_all(receivers, count);
    }
    for (int index = 0; index < count; index++) {
        close(receivers[index]);
    }
    int datagrams = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;
    setsockopt(datagrams, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    struct timespec due, start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int frame = 0; frame < frames; frame++) {
        for (int index = 0; index < count; index++) {
            for (int packet = 0; packet < packets; packet++) {
                unsigned char *place = burst + packet * (bytes + header);
                if (is_tcp) {
                    place[0] = '$';
                    place[1] = 0;
                    place[2] = (unsigned char)(bytes >> 8);
                    place[3] = (unsigned char)bytes;
                }
                memset(place + header, 0x80, 12);
            }
            if (is_tcp) {
                for (int sent = 0; sent < total;) {
                    ssize_t part = send(senders[index], burst + sent, (size_t)(total - sent), 0);
                    if (part < 0) {
                        fail("send");
                    }
                    sent += (int)part;
                }
                continue;
            }
            struct iovec vector = {burst, (size_t)total};
            char control[CMSG_SPACE(sizeof(uint16_t))] = {0};
            struct msghdr message = {.msg_name = &places[index], .msg_namelen = sizeof places[index],
                                     .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control,
                                     .msg_controllen = sizeof control};
            struct cmsghdr *head = CMSG_FIRSTHDR(&message);
            head->cmsg_level = IPPROTO_UDP;
            head->cmsg_type = UDP_SEGMENT;
            head->cmsg_len = CMSG_LEN(sizeof(uint16_t));
            *(uint16_t *)CMSG_DATA(head) = (uint16_t)bytes;
            if (sendmsg(datagrams, &message, 0) < 0) {
                fail("sendmsg");
            }
        }
        due.tv_nsec += interval;
        due.tv_sec += due.tv_nsec / 1000000000L;
        due.tv_nsec %= 1000000000L;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("%ld\n", (end.tv_sec - start.tv_sec) * 1000000000L + end.tv_nsec - start.tv_nsec);
    return 0;
}
