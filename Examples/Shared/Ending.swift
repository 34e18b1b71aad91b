#if Server && Sandbox
import Foundation
import NIOCore

/// Says why a sample could not run, and ends its process.
///
/// - Parameter port: where it was to listen; nil where it was not.
package func endAfter(_ error: any Error, in name: String, port: Int? = nil) -> Never {
    let isWrongOption = error is ServerOptions.Problem
    FileHandle.standardError.write(Data("\(name): \(reason(of: error, port))\n".utf8))
    exit(isWrongOption ? 64 : 1)
}

private func reason(of error: any Error, _ port: Int?) -> String {
    if let problem = error as? ServerOptions.Problem { return problem.description }
    guard let port, let error = error as? IOError else { return "\(error)" }
    return error.errnoCode == EADDRINUSE
        ? "Port \(port) is used by another program. Choose another one with --port."
        : "Port \(port) cannot be used: \(String(cString: strerror(error.errnoCode)))."
}
#endif
