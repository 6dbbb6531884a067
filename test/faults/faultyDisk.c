/*
 * Preloaded into a server: a disk that is slow, hangs, fails or refuses writes to the files in a folder.
 * FAULTY_DISK is the folder, FAULTY_DISK_MODE a file with the present mode.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);

__attribute__((constructor)) static void find_real(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
}

static int is_on_disk(int fd) {
  const char *folder = getenv("FAULTY_DISK");
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = folder == NULL ? -1 : readlink(link, path, sizeof path - 1);
  return length > 0 && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_mode(const char *wanted) {
  const char *file = getenv("FAULTY_DISK_MODE");
  char mode[16] = "";
  int fd = file == NULL ? -1 : open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = read(fd, mode, sizeof mode - 1);
  close(fd);
  return length > 0 && strcmp(mode, wanted) == 0;
}

static void pause_millis(long millis) {
  struct timespec time = {millis / 1000, millis % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* What stands before a write or a sync. Gives the error that it fails with, or 0. */
static int refusal(int fd, int is_sync) {
  if (!is_on_disk(fd)) return 0;
  while (is_mode("hang")) pause_millis(20);
  if (is_sync && is_mode("slow")) pause_millis(200);
  if (is_sync && is_mode("failing")) return EIO;
  if (!is_sync && is_mode("full")) return ENOSPC;
  if (!is_sync && is_mode("read-only")) return EROFS;
  return 0;
}

#define UNLESS_REFUSED(fd, is_sync, call)  \
  do {                                     \
    int reason = refusal((fd), (is_sync)); \
    if (reason == 0) return call;          \
    errno = reason;                        \
    return -1;                             \
  } while (0)

ssize_t write(int fd, const void *data, size_t length) { UNLESS_REFUSED(fd, 0, real_write(fd, data, length)); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
  UNLESS_REFUSED(fd, 0, real_pwrite(fd, data, length, at));
}
ssize_t pwrite64(int fd, const void *data, size_t length, off_t at) {
  UNLESS_REFUSED(fd, 0, real_pwrite(fd, data, length, at));
}
int ftruncate(int fd, off_t length) { UNLESS_REFUSED(fd, 0, real_ftruncate(fd, length)); }
int ftruncate64(int fd, off_t length) { UNLESS_REFUSED(fd, 0, real_ftruncate(fd, length)); }
int fsync(int fd) { UNLESS_REFUSED(fd, 1, real_fsync(fd)); }
int fdatasync(int fd) { UNLESS_REFUSED(fd, 1, real_fdatasync(fd)); }
