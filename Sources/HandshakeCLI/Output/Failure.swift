#if CommandLine
import ArgumentParser
import AsyncSupport
import Foundation
import Handshake
import OAuth
import Sandbox

/// Tells the user what went wrong, and turns it into an exit status.
enum Failure {
    /// What is printed of an error, and the exit status.
    struct Report: Sendable, Hashable {
        let status: ExitStatus
        let code: String
        var message: String
        var detail: String?
        /// The member of the configuration that is wrong.
        var member: String?
    }

    /// Writes an error to standard error, as text or as JSON.
    static func report(_ error: any Error) -> ExitStatus {
        if error is CancellationError { return ExitStatus(signal: SIGINT) }
        guard var report = report(of: error) else { return reportUsage(error) }
        // The commands that a message names are for the vault of this one.
        if let advice = NamedVault(in: CommandLine.arguments.dropFirst()).advice(for: report.message) {
            report.message += "\n\(advice)"
        }
        if Output.isJSON {
            print(report)
        } else if (error as? CommandError)?.isShown != true || Output.isQuiet {
            Output.error("handshake: \(report.message)")
        }
        return report.status
    }

    private static func print(_ report: Report) {
        var members: [(String, JSONText)] = [
            ("status", .integer(Int64(report.status.rawValue))), ("code", .string(report.code)),
            ("message", .string(report.message)),
        ]
        if let detail = report.detail { members.append(("detail", .string(detail))) }
        if let member = report.member { members.append(("member", .string(member))) }
        Output.error(JSONText.object([("error", .object(members))]).text)
    }

    /// The report of an error of this package; nil for one of the argument parser's.
    static func report(of error: any Error) -> Report? {
        switch error {
        case let error as HandshakeError:
            Report(
                status: ExitStatus(error), code: error.code, message: error.message,
                member: error.configurationMember)
        case let error as OAuthError:
            Report(
                status: ExitStatus(error), code: error.code, message: error.description,
                member: error.configurationMember)
        case let error as VaultError: Report(status: .vault, code: error.code, message: error.description)
        case let error as TransportError:
            Report(status: ExitStatus(.network(error)), code: error.code, message: error.description)
        case let error as CommandError:
            Report(status: error.status, code: error.code, message: error.message, detail: error.detail)
        case let error as FaultRuleError: Report(status: .usage, code: "usage", message: "\(error)")
        case let error as SandboxError: Report(status: .defect, code: "sandbox", message: "\(error)")
        default: nil
        }
    }

    /// The argument parser's own errors: help and version are results, everything else is a wrong command line.
    private static func reportUsage(_ error: any Error) -> ExitStatus {
        let code = HandshakeCommand.exitCode(for: error)
        if code == .success {
            Output.result(HandshakeCommand.fullMessage(for: error))
            return .done
        }
        let status = code == .validationFailure ? ExitStatus.usage : .defect
        if status == .usage, let unknown = UnknownCommand(in: CommandLine.arguments.dropFirst()) {
            return report(CommandError.usage(unknown.message))
        }
        if Output.isJSON {
            let word = status == .usage ? "usage" : "defect"
            print(Report(status: status, code: word, message: HandshakeCommand.message(for: error)))
        } else {
            Output.error(HandshakeCommand.fullMessage(for: error))
        }
        return status
    }
}

extension HandshakeError {
    /// What happened and what to do, with the option for it.
    fileprivate var message: String { option.map { "\(description.clause): \($0)" } ?? description }

    private var option: String? {
        switch self {
        case .missingKey: "--key FILE"
        case .missingCredential: "--key FILE or --certificate FILE"
        default: nil
        }
    }
}
#endif
