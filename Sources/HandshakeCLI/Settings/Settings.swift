import Foundation
import TOMLKit

/// What the command knows before its options: the home folder, `config.toml` there, and the `HANDSHAKE_…` variables.
struct Settings {
    let home: String
    let environment: [String: String]
    let file: File

    /// The settings file.
    struct File: Decodable {
        var vault: String?
        var services: [String: ServiceSettings]?
    }

    /// What `login` would otherwise be told by options, one table a service: `[services.recurse-center]`.
    struct ServiceSettings: Decodable {
        var issuer: String?
        var baseURL: String?
        var authorizeURL: String?
        var tokenURL: String?
        var clientID: String?
        var clientSecretFile: String?
        var auth: String?
        var redirect: String?
        var scope: [String]?
        var resource: [String]?
        var browser: String?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case issuer
            case baseURL = "base-url"
            case authorizeURL = "authorize-url"
            case tokenURL = "token-url"
            case clientID = "client-id"
            case clientSecretFile = "client-secret-file"
            case auth, redirect, scope, resource, browser
        }
    }

    /// Reads the settings.
    ///
    /// - Throws: ``CommandError`` naming the file and the place when it cannot be read or understood.
    static func load(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Settings {
        let home = absolute(
            environment["HANDSHAKE_HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? platformHome(environment))
        let path = home + "/config.toml"
        guard FileManager.default.fileExists(atPath: path) else {
            return Settings(home: home, environment: environment, file: File())
        }
        // The parser below ends at a zero byte, and would not see what stands after it.
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), !text.utf8.contains(0) else {
            throw CommandError.usage("\(path) cannot be read as UTF-8 text")
        }
        do {
            let table = try TOMLTable(string: text)
            try check(table, path: path)
            return Settings(
                home: home, environment: environment, file: try TOMLDecoder().decode(File.self, from: table))
        } catch let error as TOMLParseError {
            throw CommandError.usage("\(path), line \(error.source.begin.line): \(error.description)")
        } catch let error as DecodingError {
            throw CommandError.usage("\(path): \(describe(error))")
        }
    }

    /// A misspelt setting would otherwise be ignored without a word.
    private static func check(_ table: TOMLTable, path: String) throws {
        func refuse(_ names: [String], known: [String], in place: String) throws {
            for name in names where !known.contains(name) {
                throw CommandError.usage(
                    "\(path): \(place)“\(name)” is not a setting; known are \(known.joined(separator: ", "))")
            }
        }
        try refuse(table.keys, known: ["vault", "services"], in: "")
        guard let services = table["services"]?.table else { return }
        for name in services.keys {
            guard let service = services[name]?.table else {
                throw CommandError.usage("\(path): services.\(name) should be a table")
            }
            try refuse(
                service.keys, known: ServiceSettings.CodingKeys.allCases.map(\.rawValue), in: "in services.\(name), ")
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            "\(context.codingPath.map(\.stringValue).joined(separator: ".")) should be \(type == String.self ? "text" : "a \(type)")"
        case .keyNotFound(let key, _): "\(key.stringValue) is missing"
        case .dataCorrupted(let context): context.debugDescription
        @unknown default: "it cannot be understood"
        }
    }

    /// The settings for one service: its table in the file.
    func service(_ name: String) -> ServiceSettings {
        file.services?[name] ?? ServiceSettings()
    }

    /// The first that is set: the option, the variable `HANDSHAKE_NAME`, the file.
    func choose(_ option: String?, _ variable: String, _ setting: String?) -> String? {
        option ?? environment["HANDSHAKE_\(variable)"].flatMap { $0.isEmpty ? nil : $0 } ?? setting
    }

    private static func platformHome(_ environment: [String: String]) -> String {
        let user = environment["HOME"] ?? NSHomeDirectory()
        #if os(macOS)
        return user + "/Library/Application Support/Handshake"
        #else
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/handshake" }
        return user + "/.local/share/handshake"
        #endif
    }

    /// A path from the root, with `~` for the user's folder.
    static func absolute(_ path: String) -> String {
        let expanded = path == "~" || path.hasPrefix("~/") ? NSHomeDirectory() + path.dropFirst() : path
        let whole = expanded.hasPrefix("/") ? expanded : FileManager.default.currentDirectoryPath + "/" + expanded
        return whole.count > 1 && whole.hasSuffix("/") ? String(whole.dropLast()) : whole
    }
}
