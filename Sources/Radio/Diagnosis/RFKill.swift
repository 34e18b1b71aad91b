#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the kernel keeps switched off, read from `/sys/class/rfkill` (Linux, Documentation/ABI/stable/sysfs-class-rfkill).
public struct RFKill: Sendable, Hashable {
    /// Who keeps a radio off.
    public enum Block: Sendable, Hashable {
        /// Software; `rfkill unblock` ends it.
        case soft
        /// A switch or key of the machine.
        case hard
    }

    /// A radio that can be blocked.
    public struct Switch: Sendable, Hashable {
        /// The name that its driver gave, as in `hci0`.
        public let name: String
        /// Nil when it is not blocked.
        public let block: Block?
    }

    private let folder: String

    /// - Parameter folder: Where the kernel tells of them.
    public init(folder: String = "/sys/class/rfkill") {
        self.folder = folder
    }

    /// The switches of Bluetooth radios by name; none where the kernel does not tell.
    public var switches: [Switch] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return entries.sorted().compactMap { entry in
            guard let name = line(entry, "name"), line(entry, "type") == "bluetooth" else { return nil }
            let block: Block? = line(entry, "hard") == "1" ? .hard : line(entry, "soft") == "1" ? .soft : nil
            return Switch(name: name, block: block)
        }
    }

    /// What blocks an adapter: its own switch, or else another Bluetooth switch, as laptops have one of their own.
    func block(of adapter: String) -> Block? {
        let switches = switches
        if let block = switches.first(where: { $0.name == adapter })?.block { return block }
        let ofMachine = switches.filter { !$0.name.hasPrefix("hci") }
        return ofMachine.lazy.compactMap(\.block).first
    }

    private func line(_ entry: String, _ file: String) -> String? {
        guard let text = try? String(contentsOfFile: "\(folder)/\(entry)/\(file)", encoding: .utf8) else { return nil }
        return String(text.prefix { !$0.isNewline })
    }
}
