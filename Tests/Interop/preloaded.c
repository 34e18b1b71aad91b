// Loaded into a command before libc (LD_PRELOAD): gives it another time, and leads its connections to one port to another port.
//
//   PRELOADED_SECONDS=N      the clock of the day is N seconds ahead; other clocks and every pause stay as they are
//   PRELOADED_PORTS=P:Q      what is connected to port P is connected to port Q

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*original)(clockid_t, struct timespec *);
    if (!original) original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *seconds = getenv("PRELOADED_SECONDS");
    int status = original(clock, time);
    if (status == 0 && seconds && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += atol(seconds);
    return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int connect(int socket, const struct sockaddr *address, socklen_t length) {
    static int (*original)(int, const struct sockaddr *, socklen_t);
    if (!original) original = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    const char *ports = getenv("PRELOADED_PORTS");
    unsigned from, to;
    struct sockaddr_in changed;
    if (!ports || sscanf(ports, "%u:%u", &from, &to) != 2 || !address || address->sa_family != AF_INET || length < sizeof changed)
        return original(socket, address, length);
    memcpy(&changed, address, sizeof changed);
    if (ntohs(changed.sin_port) == from) changed.sin_port = htons((unsigned short)to);
    return original(socket, (const struct sockaddr *)&changed, sizeof changed);
}
