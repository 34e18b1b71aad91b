#if Desktop && os(Linux)
import Beacons
import DBus

/// The facts about BlueZ that a diagnosis is based on.
struct BlueZFacts: Sendable, Hashable {
    /// Why the objects could not be queried; nil on success.
    var obstacle: RadioError?
    /// BlueZ's adapters.
    var adapters: [BlueZAdapter] = []
    /// The adapter that the user named.
    var wanted: String?
    /// The installed version; nil when unknown.
    var version: BlueZVersion?
    /// What blocks the adapter.
    var block: RFKill.Block?
}

extension BlueZRadio {
    /// Checks everything that scanning and advertising need, and changes nothing.
    package func diagnosis() async -> RadioDiagnosis {
        var facts = BlueZFacts(wanted: options.adapter)
        #if os(Linux)
        facts.version = await BlueZVersion.installed(clock: options.time.clock)
        #endif
        do {
            let connection = try await Connection.open(addresses, options: .init(clock: options.time.clock))
            defer { connection.close() }
            var objects = BlueZObjects()
            _ = objects.replace(
                with: try await connection.object(.root, of: .bluez).managedObjects(), at: options.time.now())
            facts.adapters = objects.adapters.values.sorted { $0.path < $1.path }
            if let adapter = try? objects.adapter(named: options.adapter), !adapter.isPowered {
                facts.block = options.rfkill.block(of: adapter.name)
            }
        } catch {
            facts.obstacle =
                RadioError(error, operation: "asking BlueZ", adapter: options.adapter ?? "")
                ?? .noBus(reason: "the query was interrupted")
        }
        return RadioDiagnosis(facts)
    }
}

extension RadioDiagnosis {
    init(_ facts: BlueZFacts) {
        var findings: [Finding] = []
        switch facts.obstacle {
        case .noBus(let reason)?: findings.append(Finding(.bus, .noBus(reason: reason)))
        case let obstacle?:
            findings.append(Finding(.bus, .good, "the system's message bus answers"))
            findings.append(facts.version.finding)
            if case .notPermitted = obstacle {
                findings.append(Finding(.permission, obstacle))
            } else {
                findings.append(Finding(.daemon, obstacle))
            }
        case nil:
            findings.append(Finding(.bus, .good, "the system's message bus answers"))
            findings.append(Finding(.daemon, .good, "BlueZ runs"))
            findings.append(facts.version.finding)
            findings.append(contentsOf: facts.adapterFindings)
        }
        self.init(findings)
    }
}

extension Optional where Wrapped == BlueZVersion {
    fileprivate var finding: RadioDiagnosis.Finding {
        guard let version = self else {
            return .init(
                .version, .unknown,
                "the version of BlueZ is unknown: bluetoothd was not found")
        }
        guard let defect = version.monitorDefect else {
            return .init(.version, .good, "BlueZ \(version) is installed")
        }
        return .init(
            .version, .limited, "BlueZ \(version) is installed; \(defect)",
            cure: "install a later version, or scan without the monitor")
    }
}

extension BlueZFacts {
    fileprivate var adapterFindings: [RadioDiagnosis.Finding] {
        var objects = BlueZObjects()
        objects.take(adapters)
        let adapter: BlueZAdapter
        do throws(RadioError) {
            adapter = try objects.adapter(named: wanted)
        } catch {
            return [.init(.adapter, error)]
        }
        let address = adapter.address.map { " (\($0.visible(limit: 20)))" } ?? ""
        return [.init(.adapter, .good, "the adapter is \(adapter.name)\(address)"), power(adapter)]
            + [
                advertising(adapter), addressChange(adapter), .init(.scanning, .good, "BlueZ can scan for beacons"),
                monitor(adapter),
            ]
    }

    private func power(_ adapter: BlueZAdapter) -> RadioDiagnosis.Finding {
        if adapter.isPowered { return .init(.power, .good, "\(adapter.name) is on") }
        guard let block else { return .init(.power, .poweredOff(adapter: adapter.name)) }
        return .init(.power, .blocked(adapter: adapter.name, bySwitch: block == .hard))
    }

    private func advertising(_ adapter: BlueZAdapter) -> RadioDiagnosis.Finding {
        guard adapter.has(.advertisingManager) else {
            return .init(
                .advertising, .missing, "\(adapter.name) cannot advertise",
                cure: "use an adapter with Bluetooth Low Energy. Scanning works without")
        }
        guard let free = adapter.freeInstances else {
            return .init(.advertising, .good, "\(adapter.name) can advertise")
        }
        guard free > 0 else { return .init(.advertising, .noFreeInstance) }
        return .init(
            .advertising, .good,
            "\(adapter.name) can send \(free) more advertisement\(free == 1 ? "" : "s")")
    }

    /// What BlueZ tells no program: its `AddressType` is that of the identity, and not of what is sent.
    private static let kind = "; BlueZ does not tell whether the address is public or random"

    /// While any set advertises, the kernel postpones the change of a controller's only random address (circles dossier 2). Where
    /// each set has one of its own, the user's own watch and other programs change nothing. BlueZ does not tell whose a set is.
    private func addressChange(_ adapter: BlueZAdapter) -> RadioDiagnosis.Finding {
        if adapter.hasSeparateAddresses {
            return .init(.address, .good, "each advertisement has an address of its own\(Self.kind)")
        }
        guard adapter.activeInstances > 0 else {
            return .init(
                .address, .good,
                "nothing advertises now, so each rolling identifier gets an address of its own\(Self.kind)")
        }
        return .init(
            .address, .limited,
            "\(adapter.name) advertises already, for you or another program: beside another program the address can stay when the identifier changes\(Self.kind)",
            cure:
                "if it is not your own watch, stop the other program, or write Privacy = device into /etc/bluetooth/main.conf and restart bluetoothd"
        )
    }

    private func monitor(_ adapter: BlueZAdapter) -> RadioDiagnosis.Finding {
        guard adapter.has(.monitorManager), adapter.monitorTypes.contains("or_patterns") else {
            return .init(
                .monitor, .limited, "BlueZ offers no monitor; active scanning is used instead, which needs more power",
                cure: "run bluetoothd with --experimental (BlueZ 5.56 and Linux 5.10 or later)")
        }
        return .init(.monitor, .good, "BlueZ runs with --experimental and offers a monitor")
    }
}
#endif
