#if CommandLine
import Foundation
import OAuth

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
        let settings = Settings(home: home, environment: environment, file: File())
        guard let bytes = try UserFile.settings(settings.path) else { return settings }
        return Settings(home: home, environment: environment, file: try File(bytes, path: settings.path))
    }

    /// The settings for one service: its table in the file, whose name is compared byte for byte.
    func service(_ name: String) -> ServiceSettings {
        guard let services = file.services, let place = services.index(forKey: name),
            services[place].key.utf8.elementsEqual(name.utf8)
        else { return ServiceSettings() }
        return services[place].value
    }

    /// The settings file, which may be missing.
    var path: String { home + "/config.toml" }

    /// The first that is set: the option, the variable `HANDSHAKE_NAME`, the file.
    func choose(_ option: String?, _ variable: String, _ setting: String?) -> String? {
        option ?? environment["HANDSHAKE_\(variable)"].flatMap { $0.isEmpty ? nil : $0 } ?? setting
    }

    /// As ``choose(_:_:_:)``, with the place where the user wrote the value.
    ///
    /// - Parameters:
    ///   - name: the option without its hyphens, which is the setting's name too.
    ///   - variable: the variable without `HANDSHAKE_`.
    ///   - service: the service in whose table the setting is; nil above the tables.
    func stated(
        _ option: String?, _ name: String, _ variable: String, _ setting: String?, of service: String? = nil
    ) -> StatedValue? {
        if let option { return StatedValue(value: option, name: "--\(name)") }
        if let value = choose(nil, variable, nil) { return StatedValue(value: value, name: "HANDSHAKE_\(variable)") }
        return setting.map { stated($0, name, of: service) }
    }

    /// A value of the settings file.
    func stated(_ value: String, _ name: String, of service: String?) -> StatedValue {
        let table = service.map { " of [services.\(quoted($0, limit: 80))]" } ?? ""
        return StatedValue(value: value, name: "“\(name)”\(table) in “\(quoted(path, limit: 4096))”")
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
        let expanded =
            path == "~" || path.hasPrefix("~/")
            // As a shell does, and not what the list of users has.
            ? (ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()) + path.dropFirst() : path
        let whole = expanded.hasPrefix("/") ? expanded : FileManager.default.currentDirectoryPath + "/" + expanded
        return whole.count > 1 && whole.hasSuffix("/") ? String(whole.dropLast()) : whole
    }
}
#endif
