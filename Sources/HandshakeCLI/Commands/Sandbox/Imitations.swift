#if CommandLine
import Foundation
import Handshake
import OAuth
import Sandbox

/// The services that `handshake sandbox --service` imitates.
struct Imitations {
    let services: [ImitatedService]
    /// Where the secret of the stand-ins' clients is, for this user alone; nil where no command needs it.
    private let folder: URL?

    /// More would be hard to tell from each other.
    private static let limit = 5

    /// Reads the descriptions of services, as `services show` prints them.
    ///
    /// - Parameters:
    ///   - names: the names that were typed.
    ///   - keepsSecret: whether the clients' secret is put into a file, for commands that are printed.
    /// - Throws: ``CommandError`` for a name that is none, and for a service that cannot be imitated.
    init(_ names: [String], keepsSecret: Bool) throws {
        guard names.count <= Self.limit else {
            throw CommandError.usage("--service can be given \(Self.limit) times at most.")
        }
        let settings = try Settings.load()
        var services: [ImitatedService] = []
        for name in names {
            guard !services.contains(where: { $0.name.rawValue == name }) else {
                throw CommandError.usage("--service \(KnownAccount.shellWord(name)) is given twice.")
            }
            services.append(try Self.service(name, settings))
        }
        self.services = services
        folder = keepsSecret && !services.isEmpty ? try Self.makeFolder() : nil
    }

    private static func service(_ name: String, _ settings: Settings) throws -> ImitatedService {
        guard !Sandbox.hasStandIn(named: name) else {
            throw CommandError.usage("“\(quoted(name, limit: 80))” is in every sandbox, without --service.")
        }
        let table = settings.service(name)
        guard table.issuer == nil, table.tokenURL == nil else {
            throw CommandError.usage(
                "The sandbox cannot imitate “\(quoted(name, limit: 80))”: config.toml describes it, and login takes the "
                    + "address of a sandbox (--base-url) for built-in services alone.")
        }
        do {
            return try ImitatedService(parsing: JSONText(.object(try Services.shown(name, settings))).text)
        } catch let error as ImitationError {
            throw CommandError.usage("\(error)")
        }
    }

    private static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "handshake-sandbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return folder
    }

    /// Removes what was written.
    func end() {
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    /// The command that signs in at the stand-in of one of the services; nil at any other.
    ///
    /// - Throws: ``CommandError`` when the client's secret cannot be written.
    func login(at service: SandboxService) throws -> String? {
        guard let imitated = services.first(where: { $0.name == service.name }), let client = service.clients.first
        else { return nil }
        var words = ["handshake", "login", service.name.rawValue, "--base-url", service.origin]
        words += ["--client-id", client.id]
        for (name, example) in imitated.placeholders { words += ["--set", "\(name)=\(example)"] }
        if let secret = client.secret, let folder {
            let file = folder.appending(path: "client-secret")
            let isWritten = FileManager.default.createFile(
                atPath: file.path, contents: Data("\(secret)\n".utf8), attributes: [.posixPermissions: 0o600])
            guard isWritten else {
                throw CommandError(
                    status: .defect, code: "sandbox",
                    message: "The client's secret cannot be written to \(file.path). Check that space is left there.")
            }
            words += ["--client-secret-file", file.path]
        }
        return words.map { KnownAccount.shellWord($0) }.joined(separator: " ")
    }
}
#endif
