#if os(Linux) || os(macOS)
package import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes a program that a test starts, with mode 0700.
///
/// Another process, `install`, writes it. If this one did, a process that another test starts meanwhile would hold
/// the file open for writing until it becomes its own program, and so long the file would not start (`ETXTBSY`).
package func writeProgram(_ bytes: Data, to path: String) throws {
    let source = path + ".bytes"
    try bytes.write(to: URL(fileURLWithPath: source))
    defer { unlink(source) }
    let words = ["install", "-m", "700", source, path]
    let arguments = words.map { word in strdup(word) }
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let code = posix_spawn(&process, "/usr/bin/install", nil, nil, arguments + [nil], nil)
    guard code == 0 else { throw ProgramWriteError(text: "install does not start: \(code)") }
    var status: Int32 = 0
    var ended = waitpid(process, &status, 0)
    while ended < 0 && errno == EINTR { ended = waitpid(process, &status, 0) }
    guard ended == process, status == 0 else { throw ProgramWriteError(text: "install ended with \(status)") }
}

private struct ProgramWriteError: Error {
    let text: String
}
#endif
