/* A long link between two network namespaces: packets wait in a queue, pass at the link's rate, arrive after the delay,
 * and some are lost. Both ends use the kernel's TCP.
 *
 * Usage: link NEAR FAR ROUND_TRIP_MS MBIT_PER_SECOND QUEUE_KIB LOSS_PERCENT
 *
 * Creates a tun device with 192.0.2.1 in NEAR and one with 192.0.2.2 in FAR, prints "ready", and runs until its
 * standard input ends. A line with the last four arguments on standard input changes the link. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { RING = 65536, MTU = 1500, BATCH = 64 };

struct packet {
    long long due; /* The time of arrival, in nanoseconds. */
    int size;
    unsigned char data[MTU];
};

/* One direction. Packets from `head` to `tail` are in the queue or in flight, in order of arrival. */
struct direction {
    int from, to;
    struct packet *ring;
    unsigned head, tail;
    long long free_at; /* The time at which the link has sent all earlier packets. */
};

static double rate, loss; /* Bytes per nanosecond, and the share of lost packets. */
static long long delay, queue;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Parses the arguments of a link; returns whether all are present. */
static int settle(const char *words) {
    double round_trip, megabits, percent;
    long kibibytes;
    if (sscanf(words, "%lf %lf %ld %lf", &round_trip, &megabits, &kibibytes, &percent) != 4 || megabits <= 0) return 0;
    delay = round_trip * 1e6 / 2;
    rate = megabits * 1e6 / 8 / 1e9;
    queue = kibibytes * 1024;
    loss = percent / 100;
    return 1;
}

/* Reads the changes on standard input; returns whether there may be more. */
static int change(void) {
    static char line[256];
    static size_t length;
    ssize_t count = read(STDIN_FILENO, line + length, sizeof line - 1 - length);
    if (count <= 0) return 0;
    length += count;
    line[length] = 0;
    for (char *end; (end = strchr(line, '\n')); length = strlen(line)) {
        if (!settle(line)) return 0;
        memmove(line, end + 1, strlen(end + 1) + 1);
    }
    return length < sizeof line - 1;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* A tun device in a namespace, with an address. */
static int device(const char *namespace, const char *name, const char *address) {
    char text[256];
    snprintf(text, sizeof text, "/var/run/netns/%s", namespace);
    int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0 || setns(file, CLONE_NEWNET) < 0) fail(namespace);
    close(file);
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strcpy(request.ifr_name, name);
    if (tun < 0 || ioctl(tun, TUNSETIFF, &request) < 0) fail("/dev/net/tun");
    snprintf(text, sizeof text, "ip addr add %s/24 dev %s && ip link set %s up mtu %d txqueuelen 10000", address, name,
             name, MTU);
    if (system(text) != 0) exit(1);
    return tun;
}

/* Forwards the packets that are due; returns the time at which the next one is due, at most `next`. */
static long long deliver(struct direction *way, long long time, long long next) {
    for (; way->head != way->tail; way->head++) {
        struct packet *packet = &way->ring[way->head % RING];
        if (packet->due > time) return packet->due < next ? packet->due : next;
        if (write(way->to, packet->data, packet->size) < 0 && errno == EAGAIN) return time + 1000000;
    }
    return next;
}

static void accept_packets(struct direction *way) {
    for (int count = 0; count < BATCH && way->tail - way->head < RING; count++) {
        struct packet *packet = &way->ring[way->tail % RING];
        packet->size = read(way->from, packet->data, sizeof packet->data);
        if (packet->size <= 0) return;
        long long time = now();
        if (way->free_at < time) way->free_at = time;
        if ((way->free_at - time) * rate > queue || drand48() < loss) continue;
        way->free_at += packet->size / rate;
        packet->due = way->free_at + delay;
        way->tail++;
    }
}

int main(int argc, char **argv) {
    char words[256];
    if (argc == 7) snprintf(words, sizeof words, "%s %s %s %s", argv[3], argv[4], argv[5], argv[6]);
    if (argc != 7 || !settle(words)) {
        fprintf(stderr, "usage: link NEAR FAR ROUND_TRIP_MS MBIT_PER_SECOND QUEUE_KIB LOSS_PERCENT\n");
        return 2;
    }
    srand48(1);
    int near = device(argv[1], "link0", "192.0.2.1"), far = device(argv[2], "link1", "192.0.2.2");
    struct direction ways[2] = {{.from = far, .to = near}, {.from = near, .to = far}};
    for (int i = 0; i < 2; i++)
        if (!(ways[i].ring = malloc(sizeof(struct packet) * RING))) fail("malloc");
    printf("ready\n");
    fflush(stdout);
    struct pollfd files[3] = {
        {.fd = far, .events = POLLIN}, {.fd = near, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    for (;;) {
        long long time = now(), next = time + 1000000000LL;
        for (int i = 0; i < 2; i++) next = deliver(&ways[i], time, next);
        long long left = next - now();
        struct timespec timeout = {left > 0 ? left / 1000000000LL : 0, left > 0 ? left % 1000000000LL : 0};
        if (ppoll(files, 3, &timeout, NULL) < 0 && errno != EINTR) fail("poll");
        if (files[2].revents && !change()) return 0;
        for (int i = 0; i < 2; i++)
            if (files[i].revents & POLLIN) accept_packets(&ways[i]);
    }
}
