#if PostgreSQL
import AsyncSupport
import CLibpq
import Foundation
import Handshake

/// Where a server is and who connects: what a connection string says. It describes itself without the password.
struct PostgresAddress: Sendable {
    /// libpq's options that were given, by their keywords.
    private let options: [String: String]
    /// As a URI, without password and options. Each error of a vault begins with it.
    let description: String

    /// Reads a URI (`postgresql://…`) or `keyword=value` pairs as libpq does.
    ///
    /// - Throws: `VaultError.denied`. It quotes nothing: libpq's own text may hold a piece of a password.
    init(_ text: String) throws(VaultError) {
        var message: UnsafeMutablePointer<CChar>?
        let parsed = text.contains("\0") ? nil : PQconninfoParse(text, &message)
        defer { if let message { PQfreemem(message) } }
        guard let parsed else { throw Self.unreadable }
        defer { PQconninfoFree(parsed) }
        var options: [String: String] = [:]
        var option = parsed
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { options[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        guard !Self.isMisread(options) else { throw Self.unreadable }
        self.options = options
        description = Self.description(of: options)
    }

    private init(_ options: [String: String]) {
        self.options = options
        description = Self.description(of: options)
    }

    /// Host and port, for an error that names several.
    var place: String {
        let host = options["host"].flatMap { $0.isEmpty ? nil : $0 } ?? options["hostaddr"] ?? "default host"
        return host + (options["port"].map { " port \($0)" } ?? "")
    }

    /// An address for each server of a list, in its order; only itself where there is no list, or libpq has to compare its servers.
    ///
    /// libpq's own limit of time for each server does not count where a program watches its socket: a first server that is silent would
    /// never be passed.
    ///
    /// - Parameter environment: where libpq finds what the connection string does not say.
    func servers(in environment: [String: String] = ProcessInfo.processInfo.environment) -> [PostgresAddress] {
        let value = { (keyword: String, variable: String) in options[keyword] ?? environment[variable] }
        let list = { (keyword: String, variable: String) in
            (value(keyword, variable) ?? "").split(separator: ",", omittingEmptySubsequences: false)
                .map(String.init)
        }
        let lists = [
            "host": list("host", "PGHOST"), "hostaddr": list("hostaddr", "PGHOSTADDR"), "port": list("port", "PGPORT"),
        ]
        let count = max(lists["host"]?.count ?? 1, lists["hostaddr"]?.count ?? 1)
        guard count > 1, value("service", "PGSERVICE") == nil, options["target_session_attrs"] != "prefer-standby",
            lists.values.allSatisfy({ $0.count == 1 || $0.count == count })
        else { return [self] }
        let servers = (0..<count).map { index in
            var options = options
            for (keyword, list) in lists where list.count == count { options[keyword] = list[index] }
            return PostgresAddress(options)
        }
        return value("load_balance_hosts", "PGLOADBALANCEHOSTS") == "random" ? servers.shuffled() : servers
    }

    private static let unreadable = VaultError.denied(
        what: "the connection string of the PostgreSQL vault",
        reason:
            "it cannot be read. Write postgresql://USER@HOST:PORT/DATABASE, and special characters with %: @ as %40, / as %2F."
    )

    /// Whether a part that errors show may hold a piece of a password whose `@` or `/` was not written with %.
    private static func isMisread(_ options: [String: String]) -> Bool {
        let shown = ["host", "hostaddr", "port", "dbname"].compactMap { options[$0] }
        return shown.contains { $0.contains("@") || $0.contains("://") } || options["dbname"]?.contains("=") == true
            || options["port"]?.contains { !"0123456789,".contains($0) } == true
    }

    /// Starts to connect. It may wait for a name server.
    ///
    /// A session that cannot write is refused, unless `target_session_attrs` was given: a replica's reads are stale.
    func startConnecting() -> OpaquePointer? {
        var options = options
        for (keyword, value) in [("target_session_attrs", "read-write"), ("fallback_application_name", "handshake")]
        where options[keyword] == nil {
            options[keyword] = value
        }
        options["client_encoding"] = "UTF8"
        let keywords = options.keys.sorted()
        let texts = keywords.map { strdup($0) } + keywords.map { strdup(options[$0] ?? "") }
        defer { for text in texts { free(text) } }
        let pointers = texts.map { UnsafePointer($0) }
        return PQconnectStartParams(
            Array(pointers.prefix(keywords.count)) + [nil], Array(pointers.suffix(keywords.count)) + [nil], 0)
    }

    /// A text of libpq or of the server in one line, of bounded length, without any password.
    func redacted(_ text: String) -> String {
        var text = text
        let secrets = [options["password"], options["sslpassword"], ProcessInfo.processInfo.environment["PGPASSWORD"]]
        for secret in secrets.compactMap(\.self) where !secret.isEmpty {
            text = text.replacingOccurrences(of: secret, with: "…")
        }
        let line = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        return String(String(line).trimmingCharacters(in: .whitespaces).prefix(400)).clause
    }
}

extension PostgresAddress: CustomStringConvertible {
    private static func description(of options: [String: String]) -> String {
        let user = options["user"].map { "\($0)@" } ?? ""
        let port = options["port"].map { ":\($0)" } ?? ""
        let host = (options["host"] ?? options["hostaddr"]).map { $0.replacingOccurrences(of: "/", with: "%2F") } ?? ""
        return "postgresql://\(user)\(host)\(port)/\(options["dbname"] ?? "")"
    }
}

extension PostgresAddress: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
