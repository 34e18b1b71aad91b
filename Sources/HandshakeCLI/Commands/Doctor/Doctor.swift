import ArgumentParser
import Foundation
import Handshake
import OAuth
import Radio

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what works on this machine and what is missing, each with its cure.",
        discussion:
            "The output holds no secret and can be pasted into a report. The status is 0 when everything that sign-in needs works."
    )

    @OptionGroup var common: CommonOptions

    /// One thing that was looked at.
    private struct Finding {
        enum Verdict: String {
            case works, limited, missing
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
            findings.append(Finding(name: "settings", verdict: .works, detail: settings.home))
            findings += await vault(settings)
        } catch let error as CommandError {
            findings.append(
                Finding(
                    name: "settings", verdict: .missing, detail: error.message,
                    cure: "correct the file, or set HANDSHAKE_HOME"))
        }
        findings += [browser(), listener(), trust(), clock(), terminal()]
        findings += await bluetooth()
        print(findings)
        if findings.contains(where: { $0.verdict == .missing }) {
            throw CommandError(status: .defect, code: "unhealthy", message: "something that sign-in needs is missing")
        }
    }

    private func vault(_ settings: Settings) async -> [Finding] {
        do {
            let vault = try await common.openVault(settings)
            let (names, damaged) = try await Registrations(in: vault).names()
            var findings = [
                Finding(
                    name: "vault", verdict: damaged.isEmpty ? .works : .limited,
                    detail: "\(names.count) accounts remembered, \(damaged.count) records damaged",
                    cure: damaged.isEmpty ? nil : damaged.map(\.description).joined(separator: "; "))
            ]
            let insecure = await insecureAccounts(names, in: vault)
            if !insecure.isEmpty {
                findings.append(
                    Finding(
                        name: "transport", verdict: .limited,
                        detail: "plain http on this machine is allowed for: \(insecure.joined(separator: ", "))",
                        cure: "fine for a sandbox or a test; sign in with an https address otherwise"))
            }
            return findings
        } catch {
            let (code, text) = (error as? VaultError).map { ($0.code, $0.description) } ?? ("vault", "\(error)")
            return [
                Finding(
                    name: "vault", verdict: .missing, detail: "\(code): \(text)",
                    cure: "see the reason; nothing was deleted")
            ]
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
            name: "browser", verdict: .limited, detail: "no program that opens a browser was found",
            cure: "use --browser print and open the address on any device, or install xdg-utils")
    }

    private func listener() -> Finding {
        do {
            let listener = try LoopbackListener()
            return Finding(
                name: "loopback", verdict: .works, detail: "a listener can be opened, such as \(listener.redirectURI)")
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
        guard let bundle = bundles.first(where: FileManager.default.isReadableFile(atPath:)) else {
            return Finding(
                name: "certificates", verdict: .missing, detail: "no certificate authorities were found",
                cure: "install ca-certificates")
        }
        return Finding(name: "certificates", verdict: .works, detail: bundle)
        #else
        return Finding(name: "certificates", verdict: .works, detail: "the system's own")
        #endif
    }

    private func clock() -> Finding {
        let now = TimeSource.system.now()
        // Tokens and ID tokens are judged by the clock; one that was never set stands near 1970.
        guard now > 1_767_225_600 else {
            return Finding(
                name: "clock", verdict: .missing, detail: "the clock says \(Moment.text(now))",
                cure: "set the clock, best by NTP")
        }
        return Finding(name: "clock", verdict: .works, detail: Moment.text(now))
    }

    private func terminal() -> Finding {
        Output.isTerminal
            ? Finding(name: "terminal", verdict: .works, detail: "a person can be told and asked")
            : Finding(
                name: "terminal", verdict: .limited, detail: "no terminal: nothing is asked",
                cure: "none needed in scripts")
    }

    /// Only people nearby need a radio, so nothing here makes the machine unhealthy.
    private func bluetooth() async -> [Finding] {
        #if os(Linux)
        do throws(RadioError) {
            let radio = try BlueZRadio(environment: ProcessInfo.processInfo.environment)
            return await radio.diagnosis().findings.map(Self.finding)
        } catch {
            return [Finding(name: "bluetooth bus", verdict: .limited, detail: error.fault, cure: error.cure)]
        }
        #else
        return AppleRadio().diagnosis().findings.map(Self.finding)
        #endif
    }

    private static func finding(_ found: RadioDiagnosis.Finding) -> Finding {
        Finding(
            name: "bluetooth \(found.topic.rawValue)", verdict: found.verdict == .good ? .works : .limited,
            detail: found.text, cure: found.cure)
    }

    private func print(_ findings: [Finding]) {
        if common.json {
            Output.result(
                JSONText.object([
                    ("healthy", .bool(!findings.contains { $0.verdict == .missing })),
                    (
                        "checks",
                        .array(
                            findings.map {
                                .object([
                                    ("name", .string($0.name)), ("state", .string($0.verdict.rawValue)),
                                    ("detail", .string(quoted($0.detail))),
                                    ("cure", .optional($0.cure.map { quoted($0) })),
                                ])
                            })
                    ),
                ]).text)
            return
        }
        for line in Table.lines(findings.map { [$0.name, $0.verdict.rawValue, $0.detail] }) { Output.result(line) }
        for finding in findings {
            if let cure = finding.cure { Output.note("\(finding.name): \(quoted(cure))") }
        }
    }
}
