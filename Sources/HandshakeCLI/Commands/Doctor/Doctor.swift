#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import Nearby
import OAuth
import Radio

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check what works on this machine, and say what to do about the rest.",
        discussion: """
            The output has no secrets and can go into a bug report. The status is 0 if everything needed for a sign-in works. Where \
            there is no vault of files an empty one is made, as a sign-in would: check the name that you give with --vault.
            """)

    @OptionGroup var common: CommonOptions

    /// The result of one check.
    struct Finding {
        enum Verdict: String {
            case works, limited, missing, broken
        }

        let name: String
        let verdict: Verdict
        let detail: String
        var cure: String?
    }

    func run() async throws {
        var findings: [Finding] = []
        do {
            let settings = try Settings.load()
            let isThere = FileManager.default.fileExists(atPath: settings.path)
            findings.append(
                Finding(
                    name: "settings", verdict: .works,
                    detail: isThere ? settings.path : "no file; optional: \(settings.path)"))
            findings += await vault(settings)
        } catch let error as CommandError {
            findings.append(
                Finding(
                    name: "settings", verdict: .broken, detail: error.message,
                    cure: "correct the file, or set HANDSHAKE_HOME to another folder"))
        }
        findings += [browser(), listener(), trust(), clock(), terminal()]
        findings += await bluetooth()
        print(findings)
        if findings.contains(where: { $0.verdict == .broken }) {
            throw CommandError(
                status: .vault, code: "unhealthy",
                message: "The settings or the vault cannot be used. See the reasons above.")
        }
        if findings.contains(where: { $0.verdict == .missing }) {
            throw CommandError(
                status: .defect, code: "unhealthy",
                message: "A sign-in is not possible on this machine. See above how to fix it.")
        }
    }

    private func vault(_ settings: Settings) async -> [Finding] {
        do {
            let opened = try await common.vaultChoice(settings).open()
            let vault = opened.vault
            let (names, damaged) = try await Registrations(in: vault).names()
            var findings = [
                Finding(
                    name: "vault", verdict: damaged.isEmpty ? .works : .limited,
                    detail: "\(names.count) account\(names.count == 1 ? "" : "s"), "
                        + "\(damaged.count) damaged record\(damaged.count == 1 ? "" : "s")",
                    cure: damaged.isEmpty ? nil : damaged.map(\.description).joined(separator: "; ")),
                Self.finding(opened.key),
            ]
            let insecure = await insecureAccounts(names, in: vault)
            if !insecure.isEmpty {
                findings.append(
                    Finding(
                        name: "transport", verdict: .limited,
                        detail: "unencrypted http on this machine is allowed for: \(insecure.joined(separator: ", "))",
                        cure: "expected with a sandbox; otherwise sign in with an https URL"))
            }
            return findings + (await Self.circles(in: vault))
        } catch {
            let text = Failure.report(of: error)?.message ?? "\(error)"
            return [
                Finding(
                    name: "vault", verdict: .broken, detail: "cannot be used; see below",
                    cure: "\(text)\(text.hasSuffix(".") ? "" : ".") No account was deleted.")
            ]
        }
    }

    /// What stops a circle from being current: an unset clock, a server that refuses, another device's identity, a sign-in
    /// that has ended or is about to, keys that have ended.
    static func circles(in vault: any Vault, time: TimeSource = .system) async -> [Finding] {
        let environment = NearbyVault.environment(vault, time: time)
        guard let circles = try? await JoinedCircle.all(in: environment) else { return [] }
        var findings: [Finding] = []
        for circle in circles {
            guard let summary = try? await circle.summary() else { continue }
            let name = "circle " + quoted(summary.circle, limit: 80)
            let endsSoon = summary.expires - time.now() <= JoinedCircle.renewalTime
            let end = Self.end(of: summary, endsSoon: endsSoon)
            let trouble = [summary.trouble, end].compactMap(\.self).joined(separator: ". ")
            findings.append(
                (trouble.isEmpty ? nil : trouble).map {
                    Finding(name: name, verdict: .limited, detail: $0, cure: Self.cure(of: summary, endsSoon: endsSoon))
                } ?? Finding(name: name, verdict: .works, detail: "\(summary.members ?? 0) other members are known"))
        }
        return findings
    }

    /// Since when, or from when on, a circle's members cannot notice the user; nil while nothing ends.
    private static func end(of summary: JoinedCircle.Summary, endsSoon: Bool) -> String? {
        let signIn: String? =
            summary.mustJoinAgain
            ? "The sign-in has ended"
            : endsSoon ? "The sign-in ends on \(Moment.text(summary.expires))" : nil
        guard !summary.isPaused else { return signIn }
        guard let end = summary.keysEnd else {
            return [signIn, "Others cannot notice you: your keys are not published"].compactMap(\.self)
                .joined(separator: ". ")
        }
        if summary.isSilent {
            return [signIn, "Others cannot notice you since your keys ended on \(Moment.text(end))"]
                .compactMap(\.self).joined(separator: ". ")
        }
        guard let signIn else {
            // Keys that are not renewed end soon, and are renewed where nothing is wrong.
            return summary.trouble == nil || summary.tableProblem != nil
                ? nil : "Your published keys end on \(Moment.text(end))"
        }
        return summary.mustJoinAgain
            ? "\(signIn). Others can notice you until your published keys end on \(Moment.text(end)) at the latest"
            : "\(signIn). Within four days of that others cannot notice you"
    }

    /// What helps a circle: a synchronisation, which brings no identity back that is lost, or another sign-in.
    static func cure(of summary: JoinedCircle.Summary, endsSoon: Bool = false) -> String {
        let sync = "handshake nearby circle sync"
        let join = "sign in again: handshake nearby circle join \(quoted(summary.address, limit: 200))"
        let isOver = summary.mustJoinAgain || endsSoon
        switch summary.tableProblem {
        case .unreadableTable?:
            // Joining fetches the members too; who is signed out can fetch nothing.
            return "without a backup, \(isOver ? join : "fetch the members now: \(sync)")"
        case .pinsLost(let circle)?:
            let pair = "pair with people whom you meet: handshake nearby pair. This note ends after a week"
            if isOver { return "\(pair). For the rest, \(join)" }
            let isAll = summary.trouble == CircleProblem.pinsLost(circle: circle).description && !summary.isSilent
            return isAll ? pair : "\(pair). For the rest, afterwards: \(sync)"
        default:
            if isOver { return join }
            return summary.trouble == nil && summary.isSilent ? "publish them now: \(sync)" : "afterwards: \(sync)"
        }
    }

    private static func finding(_ key: VaultChoice.KeyPlace) -> Finding {
        let name = "vault key"
        return switch key {
        case .memory: Finding(name: name, verdict: .works, detail: "in memory, like the accounts")
        case .file(let path): Finding(name: name, verdict: .works, detail: "in the file \(path), apart from the data")
        case .keyring: Finding(name: name, verdict: .works, detail: "in the desktop's keyring")
        case .stated(let place): Finding(name: name, verdict: .works, detail: "from \(place)")
        case .beside(let path, let reason):
            Finding(
                name: name, verdict: .limited,
                detail: "in the file \(path), beside the data: a backup of both opens the vault",
                cure: reason.map { "the key could not be moved: \($0)" } ?? "back up one without the other")
        }
    }

    private func insecureAccounts(_ names: [String], in vault: any Vault) async -> [String] {
        var insecure: [String] = []
        for name in names {
            guard let client = try? await Registrations(in: vault).client(named: name) else { continue }
            let server = client.service.authorizationServer
            if server.security == .allowingInsecureLoopback, server.issuer.url.origin.scheme == .http {
                insecure.append(name)
            }
        }
        return insecure
    }

    private func browser() -> Finding {
        if let opener = SystemBrowser.opener(in: ProcessInfo.processInfo.environment) {
            return Finding(name: "browser", verdict: .works, detail: opener)
        }
        return Finding(
            name: "browser", verdict: .limited, detail: "no program to open a browser was found",
            cure:
                "use --browser print and open the URL in a browser on this machine, use --device where the service has it, or install xdg-utils"
        )
    }

    private func listener() -> Finding {
        do {
            let listener = try LoopbackListener()
            return Finding(
                name: "loopback", verdict: .works,
                detail: "a redirect can be received, for example at \(listener.redirectURI)")
        } catch {
            return Finding(
                name: "loopback", verdict: .missing, detail: "\(error)",
                cure: "bring up the lo interface, or use --redirect URI")
        }
    }

    private func trust() -> Finding {
        #if os(Linux)
        let bundles = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
        ]
        if let stated = AsyncHTTPTransport.statedAuthorities {
            guard FileManager.default.isReadableFile(atPath: stated) else {
                return Finding(
                    name: "certificates", verdict: .missing,
                    detail: "the file “\(quoted(stated, limit: 200))” (SSL_CERT_FILE) cannot be read, so https fails",
                    cure: "correct the variable SSL_CERT_FILE, or remove it")
            }
            return Finding(
                name: "certificates", verdict: .works, detail: "\(quoted(stated, limit: 200)) (SSL_CERT_FILE)")
        }
        guard let bundle = bundles.first(where: FileManager.default.isReadableFile(atPath:)) else {
            return Finding(
                name: "certificates", verdict: .missing,
                detail: "the certificate authorities are missing, so https fails",
                cure: "install ca-certificates")
        }
        return Finding(name: "certificates", verdict: .works, detail: bundle)
        #else
        return Finding(name: "certificates", verdict: .works, detail: "the system's own")
        #endif
    }

    private func clock() -> Finding {
        let now = TimeSource.system.now()
        // Token lifetimes depend on the clock; one that was never set is near 1970.
        guard now > 1_767_225_600 else {
            return Finding(
                name: "clock", verdict: .missing, detail: "the clock says \(Moment.text(now))",
                cure: "set the clock, for example with NTP")
        }
        return Finding(name: "clock", verdict: .works, detail: Moment.text(now))
    }

    private func terminal() -> Finding {
        Output.isTerminal
            ? Finding(name: "terminal", verdict: .works, detail: "questions can be asked")
            : Finding(
                name: "terminal", verdict: .limited, detail: "no terminal: no questions are asked",
                cure: "expected in scripts")
    }

    /// Only `nearby` needs a radio, so nothing here counts as missing.
    private func bluetooth() async -> [Finding] {
        #if Desktop && os(Linux)
        do throws(RadioError) {
            let radio = try BlueZRadio(environment: ProcessInfo.processInfo.environment)
            return await radio.diagnosis().findings.map(Self.finding)
        } catch {
            return [Finding(name: "bluetooth bus", verdict: .limited, detail: error.fault, cure: error.cure)]
        }
        #else
        return await AppleRadio().diagnosis().findings.map(Self.finding)
        #endif
    }

    private static func finding(_ found: RadioDiagnosis.Finding) -> Finding {
        let command = found.topic == .address ? ". Check from another adapter: handshake nearby audit" : ""
        return Finding(
            name: "bluetooth \(found.topic.rawValue)", verdict: found.verdict == .good ? .works : .limited,
            detail: found.text + (found.cure == nil ? command : ""), cure: found.cure.map { $0 + command })
    }

    private func print(_ findings: [Finding]) {
        if common.json {
            Output.result(
                JSONText.object([
                    ("healthy", .bool(!findings.contains { $0.verdict == .missing || $0.verdict == .broken })),
                    (
                        "checks",
                        .array(
                            findings.map {
                                .object([
                                    ("name", .string($0.name)), ("state", .string($0.verdict.rawValue)),
                                    ("detail", .string(quoted($0.detail))),
                                    ("cure", .optional($0.cure.map { Self.completed($0, limit: 500) })),
                                ])
                            })
                    ),
                ]).text)
            return
        }
        for line in Table.lines(findings.map { [$0.name, $0.verdict.rawValue, $0.detail] }) { Output.result(line) }
        for finding in findings {
            if let cure = finding.cure { Output.note("\(finding.name): \(Self.completed(cure, limit: 4096))") }
        }
    }

    /// A cure on one line, whose commands are for the vault of this one.
    private static func completed(_ cure: String, limit: Int) -> String {
        NamedVault.given.completed(quoted(cure, limit: limit), isLine: true)
    }
}
#endif
