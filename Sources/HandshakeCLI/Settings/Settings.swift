#if CommandLine
import Foundation

/// What the command knows before its options: the home folder, `config.toml` there, and the `HANDSHAKE_…` variables.
struct Settings {
    let home: String
    let environment: [String: String]
    let file: File

    /// Where the keys of file vaults lie: apart from the data, so that one backup does not take both.
    var keyHome: String {
        let named = environment["HANDSHAKE_KEY_HOME"] ?? ""
        if !named.isEmpty { return Self.absolute(named) }
        let user = environment["HOME"] ?? NSHomeDirectory()
        if environment["HANDSHAKE_HOME"]?.isEmpty == false { return user + "/.config/handshake/keys" }
        if let config = environment["XDG_CONFIG_HOME"], config.hasPrefix("/") { return config + "/handshake" }
        return user + "/.config/handshake"
    }

    /// Reads the settings.
    ///
    /// - Throws: ``CommandError`` naming the file and the place when it cannot be read or understood.
    static func load(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Settings {
        let home = absolute(
            environment["HANDSHAKE_HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? platformHome(environment))
        let path = home + "/config.toml"
        guard let bytes = try UserFile.settings(path) else {
            return Settings(home: home, environment: environment, file: File())
        }
        return Settings(home: home, environment: environment, file: try File(bytes, path: path))
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
#endif
