#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The kernel's blocked radios, from `/sys/class/rfkill` (Linux, Documentation/ABI/stable/sysfs-class-rfkill).
package struct RFKill: Sendable, Hashable {
    /// What blocks a radio.
    package enum Block: Sendable, Hashable {
        /// Software; `rfkill unblock` removes it.
        case soft
        /// A switch or key of the machine.
        case hard
    }

    /// A radio that can be blocked.
    package struct Switch: Sendable, Hashable {
        /// The driver's name, such as `hci0`.
        package let name: String
        /// Nil when it is not blocked.
        package let block: Block?
    }

    private let folder: String

    /// - Parameter folder: The kernel's folder.
    package init(folder: String = "/sys/class/rfkill") {
        self.folder = folder
    }

    /// The switches of Bluetooth radios by name; empty where the kernel reports none.
    package var switches: [Switch] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return entries.sorted().compactMap { entry in
            guard let name = line(entry, "name"), line(entry, "type") == "bluetooth" else { return nil }
            let block: Block? = line(entry, "hard") == "1" ? .hard : line(entry, "soft") == "1" ? .soft : nil
            return Switch(name: name, block: block)
        }
    }

    /// The block of an adapter: its own switch's, otherwise another Bluetooth switch's, such as a laptop's.
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
