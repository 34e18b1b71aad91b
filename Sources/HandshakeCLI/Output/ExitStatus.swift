#if CommandLine
import Foundation
import Handshake
import OAuth

/// The command's exit status.
struct ExitStatus: Sendable, Hashable {
    let rawValue: Int32

    static let done = ExitStatus(rawValue: 0)
    static let defect = ExitStatus(rawValue: 1)
    static let abandoned = ExitStatus(rawValue: 2)
    static let signInNeeded = ExitStatus(rawValue: 3)
    static let serviceError = ExitStatus(rawValue: 4)
    static let refused = ExitStatus(rawValue: 5)
    static let network = ExitStatus(rawValue: 6)
    static let vault = ExitStatus(rawValue: 7)
    static let usage = ExitStatus(rawValue: 64)

    init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// 128 and the signal's number, as shells have it.
    init(signal: Int32) {
        rawValue = 128 + signal
    }

    init(_ error: HandshakeError) {
        self =
            switch error {
            case .configuration: .usage
            case .exchange(let error): ExitStatus(error)
            case .undiscovered(_, let failures):
                failures.first.map { first in
                    failures.allSatisfy { $0.error.code == first.error.code } ? ExitStatus(first.error) : .serviceError
                } ?? .serviceError
            case .network(.insecure), .network(.privateAddress): .refused
            case .network, .refreshUncertain: .network
            case .vault: .vault
            case .signInRequired, .clientForgotten, .resourceMoved: .signInNeeded
            case .demanded, .rejected, .tooManyRedirects: .serviceError
            case .contentNotReplayable: .defect
            case .signInAbandoned: .abandoned
            }
    }

    init(_ error: OAuthError) {
        self =
            switch error {
            case .configuration: .usage
            case .server: .serviceError
            case .unmatchedRedirect, .refused, .malformed, .redirected: .refused
            }
    }
}

/// An error that the command states itself.
struct CommandError: Error, Sendable {
    let status: ExitStatus
    let code: String
    let message: String
    /// Whether the user has seen the message already, as a note: then it is not printed again.
    var isShown = false
    /// What only a report of a defect needs, such as names of the wire: printed with --json alone.
    var detail: String?

    /// The command line is wrong.
    static func usage(_ message: String) -> CommandError {
        CommandError(status: .usage, code: "usage", message: message)
    }

    /// A file that the user named.
    static func unreadable(_ path: String) -> CommandError {
        CommandError(
            status: .usage, code: "file_unreadable",
            message: path == "-"
                ? "Standard input cannot be read."
                : "\(GivenFile.name(path)) cannot be read. Check that it exists and that you may read it.")
    }

    /// A file that the user wants written.
    ///
    /// - Parameter isTaken: whether the file has to be new, and there is one of this name.
    static func unwritable(_ path: String, isTaken: Bool = false) -> CommandError {
        let absolute = Settings.absolute(path)
        let folder = absolute.lastIndex(of: "/").map { String(absolute[..<$0]) } ?? ""
        var isFolder: ObjCBool = false
        let reason =
            if !folder.isEmpty, !FileManager.default.fileExists(atPath: folder) {
                "the folder “\(quoted(folder, limit: 200))” does not exist."
            } else if FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder), isFolder.boolValue {
                "it is a folder. Name a file in it."
            } else if isTaken {
                "it exists already. Name a new file, or remove this one first."
            } else {
                "check that you may write there and that space is left."
            }
        return CommandError(
            status: .usage, code: "file_unwritable", message: "\(GivenFile.name(path)) cannot be written: \(reason)")
    }

    /// The command line asks for what another build of the command has.
    ///
    /// - Parameters:
    ///   - trait: the package trait that brings it.
    ///   - library: the Debian package that it needs beside.
    static func withoutTrait(_ trait: String, _ what: String, library: String) -> CommandError {
        CommandError(
            status: .usage, code: "not_built",
            message:
                "This build of handshake does not have \(what). Install \(library), and in the source of handshake run: "
                + "swift build -c release --product handshake --traits Everything,\(trait)")
    }

    /// The time of `--timeout` is over.
    ///
    /// - Parameter retry: the option that allows more time.
    static func timedOut(_ what: String, retry: String) -> CommandError {
        CommandError(
            status: .network, code: "timed_out",
            message: "\(what) Check the network, or run the command again with \(retry)")
    }
}

/// The argument parser prints what a transformation throws.
extension CommandError: CustomStringConvertible {
    var description: String { message }
}
#endif
