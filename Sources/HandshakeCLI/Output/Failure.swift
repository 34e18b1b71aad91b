import ArgumentParser
import Foundation
import Handshake
import OAuth
import Sandbox

/// Tells the user what went wrong, and turns it into an exit status.
enum Failure {
    /// Writes an error to standard error, as text or as JSON.
    static func report(_ error: any Error) -> ExitStatus {
        if error is CancellationError { return ExitStatus(signal: SIGINT) }
        guard let (status, code, message) = describe(error) else {
            return reportUsage(error)
        }
        if Output.isJSON {
            Output.error(
                JSONText.object([
                    (
                        "error",
                        .object([
                            ("status", .integer(Int64(status.rawValue))), ("code", .string(code)),
                            ("message", .string(message)),
                        ])
                    )
                ]).text)
        } else {
            // The message may quote a file or a server.
            Output.error("handshake: \(quoted(message, limit: 8192))")
        }
        return status
    }

    private static func describe(_ error: any Error) -> (ExitStatus, code: String, message: String)? {
        switch error {
        case let error as HandshakeError: (ExitStatus(error), error.code, error.description)
        case let error as OAuthError: (ExitStatus(error), error.code, error.description)
        case let error as VaultError: (.vault, error.code, error.description)
        case let error as TransportError: (ExitStatus(.network(error)), error.code, error.description)
        case let error as CommandError: (error.status, error.code, error.message)
        case let error as FaultRuleError: (.usage, "usage", "\(error)")
        case let error as SandboxError: (.defect, "sandbox", "\(error)")
        default: nil
        }
    }

    /// The argument parser's own answers: help and version are results, everything else is a wrong command line.
    private static func reportUsage(_ error: any Error) -> ExitStatus {
        let code = HandshakeCommand.exitCode(for: error)
        let message = HandshakeCommand.fullMessage(for: error)
        if code == .success {
            Output.result(message)
            return .done
        }
        let status = code == .validationFailure ? ExitStatus.usage : .defect
        if Output.isJSON {
            Output.error(
                JSONText.object([
                    (
                        "error",
                        .object([
                            ("status", .integer(Int64(status.rawValue))),
                            ("code", .string(status == .usage ? "usage" : "defect")),
                            ("message", .string(HandshakeCommand.message(for: error))),
                        ])
                    )
                ]).text)
        } else {
            Output.error(message)
        }
        return status
    }
}
