// What Darwin's own overlay adds to the C library: variadic functions, and macros that Swift cannot import.
@_exported import Darwin
import OverlayShims
public var errno: Int32 {
    get { overlay_errno() }
    set { overlay_set_errno(newValue) }
}
public var noErr: Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { overlay_open(path, oflag, 0) }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 {
    overlay_open(path, oflag, mode)
}
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 {
    overlay_openat(fd, path, oflag, 0)
}
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 {
    overlay_openat(fd, path, oflag, mode)
}
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { overlay_fcntl(fd, cmd, 0) }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { overlay_fcntl(fd, cmd, value) }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 { overlay_fcntlp(fd, cmd, ptr) }
public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt { overlay_ioctl(fd, request, value) }
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt {
    overlay_ioctlp(fd, request, ptr)
}
public func ioctl(_ fd: CInt, _ request: UInt) -> CInt { overlay_ioctl(fd, request, 0) }
public var S_IFMT: mode_t { 0o170000 }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFCHR: mode_t { 0o020000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFBLK: mode_t { 0o060000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFLNK: mode_t { 0o120000 }
public var S_IFSOCK: mode_t { 0o140000 }
public var S_IRWXU: mode_t { 0o700 }
public var S_IRUSR: mode_t { 0o400 }
public var S_IWUSR: mode_t { 0o200 }
public var S_ISUID: mode_t { 0o4000 }
public var S_ISGID: mode_t { 0o2000 }
public var S_ISVTX: mode_t { 0o1000 }
public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t { unsafeBitCast(1, to: sig_t.self) }
public var TIOCGWINSZ: UInt { 0x40087468 }
public var environ: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { _NSGetEnviron().pointee! }
@available(*, unavailable, message: "Please use threads or posix_spawn*()")
public func fork() -> Int32 { fatalError() }
public var stdin: UnsafeMutablePointer<FILE> {
    get { __stdinp }
    set { __stdinp = newValue }
}
public var stdout: UnsafeMutablePointer<FILE> {
    get { __stdoutp }
    set { __stdoutp = newValue }
}
public var stderr: UnsafeMutablePointer<FILE> {
    get { __stderrp }
    set { __stderrp = newValue }
}
public var S_IXUSR: mode_t { 0o100 }
public var S_IRWXG: mode_t { 0o70 }
public var S_IRGRP: mode_t { 0o40 }
public var S_IWGRP: mode_t { 0o20 }
public var S_IXGRP: mode_t { 0o10 }
public var S_IRWXO: mode_t { 0o7 }
public var S_IROTH: mode_t { 0o4 }
public var S_IWOTH: mode_t { 0o2 }
public var S_IXOTH: mode_t { 0o1 }
public var CLOCK_MONOTONIC: clockid_t {}
public var CLOCK_PROCESS_CPUTIME_ID: clockid_t {}
