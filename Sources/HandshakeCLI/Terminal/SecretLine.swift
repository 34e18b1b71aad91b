#if CommandLine
import Foundation
import OAuth

/// A secret on one line of a file or of standard input; never on the command line, where every process can read it.
enum SecretLine {
    /// The first line of a file; for `-` the next line of standard input. A terminal is asked for it, and does not show it.
    ///
    /// - Parameters:
    ///   - what: what it is, as in `service key`.
    ///   - option: the option that names the file.
    /// - Throws: ``CommandError`` when there is none, it is empty, or other users can read the file; `CancellationError`.
    static func read(_ path: String, what: String, option: String) async throws -> Secret {
        if path == "-" {
            let secret = try await Prompt.password("The \(what) (not shown):", wanted: "the \(what)")
            guard !secret.isEmpty else { throw CommandError.usage("Standard input has no \(what) on its next line.") }
            return secret
        }
        let name = quoted(path, limit: 200)
        try requireFile(path, what: what, option: option)
        guard let bytes = try UserFile.secret(Settings.absolute(path)) else {
            throw CommandError.usage("The \(what) file “\(name)” does not exist.")
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
            throw CommandError.usage("The first line of “\(name)” is not a \(what).")
        }
        return Secret(text)
    }

    /// Says what to do about what is no file; `option` takes standard input too. Whether the file can be trusted is checked when it is open.
    static func requireFile(_ path: String, what: String, option: String?) throws(CommandError) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: Settings.absolute(path))
        let name = quoted(path, limit: 200)
        switch attributes?[.type] as? FileAttributeType {
        case .typeSymbolicLink?:
            throw CommandError(
                status: .vault, code: "secret_file_denied",
                message:
                    "“\(name)” was not read: symbolic links are not followed for files with secrets. Name the file itself"
                    + (option.map { ", or pipe the \(what): … | handshake … \($0) -" } ?? ".")
            )
        case nil, .typeRegular?: return
        case let type:
            throw CommandError.usage(
                "“\(name)” is \(type == .typeDirectory ? "a folder" : "not a file"). Give a file with the \(what)"
                    + (option == nil ? "." : ", or - for standard input.")
            )
        }
    }
}
#endif
