import HTTPTypes
import Handshake
import OAuth
import Testing

@testable import Sequencing

@Suite("Connect-To")
struct ConnectTests {
    private static let longSecret = "sandbox-secret-0123456789-abcdefghijklmnop"

    private func request() throws -> ConnectRequest {
        try ConnectRequest(
            email: Sequencing.EmailAddress("ada@example.test"),
            files: [.init(name: "ada.vcf.gz", url: "https://files.example.test/ada.vcf.gz")])
    }

    @Test(
        "C06: the two test vectors of the dossier",
        arguments: [
            (
                longSecret, "adc6d434d8a60258e8bd27e9dae8841e",
                "ux9Pv5gz7qdBuc03LCrCf8YjJQjcTdYZ8h7YoO4ejopUNA0AC+sFE3zKSXPjQXDlVCRJo96btEUN4MQOynEgg/5V2EoNilEVWx+gp3bk2jJNCuJ"
                    + "yK8UpHsA8EkgDnO2mQgrgvJjGlOpM+tk6NCppPzLzDk928tt9QMFX803nTTKnQXdwJsbWCB4gXcbaVbn7pvYAy7t7xBLmMqcEg8tDwVi37I"
                    + "PIhTcs2U2btLWVYsZNrEDm4KyG+yYerCUYJ77yEFwnjqPfQ/eIIC7XRPyHbNZXpW/y7yoeUbPJ1tRXz48="
            ),
            (
                "short-secret", "68a4d52c671140f4338b8d9592ec7a59",
                "Z8YyItXn1FHGQpELT/7vkHVGTiaZ01ojOWDKDUCWrW/P1jxpeH47llkcjz+sQ42CfrhZKnVueYmo5Au5Gz3Exc1qPsq3WJtsq21rPfoogkMU9KA"
                    + "0KuDwrOS+NpjoJa5nPGZgmqRtu0nV44xJ6JjQRdC8eItfdcUzjolZUAxbSrCZ5GsgAP0UmXa8NiE0BXwd4pp3jLbbtg9ztHgJQpfqRdoCyT"
                    + "BHm7nYin/odWh7rhvdSyRkEhrsZqvhxYSIrosX"
            ),
        ])
    func vectors(_ secret: String, _ hash: String, _ cipher: String) throws {
        let codec = try LegacyConnectCodec(secret: Secret(secret))
        #expect(codec.clientHash == hash)
        #expect(try codec.encrypt(request()) == cipher)
    }

    @Test("W11: the link is https, and everything in it is encoded")
    func link() throws {
        let codec = try LegacyConnectCodec(secret: Secret(Self.longSecret))
        let link = try codec.link(request())
        #expect(link.origin.description == "https://sequencing.com")
        #expect(link.path == "/connect")
        let query = try #require(link.query)
        #expect(
            query.hasPrefix(
                "c=adc6d434d8a60258e8bd27e9dae8841e&json=ux9Pv5gz7qdBuc03LCrCf8YjJQjcTdYZ8h7YoO4ejopUNA0AC%2BsFE3z"))
        #expect(query.hasSuffix("%3D"))
    }

    @Test("C05: address, files, names and addresses of files are checked before anything is encrypted")
    func validation() async throws {
        let email = try Sequencing.EmailAddress("a@b.test")
        #expect(throws: SequencingError.input(member: "files", problem: "must name at least one file")) {
            try ConnectRequest(email: email, files: [])
        }
        let wrongName = SequencingError.input(member: "name", problem: "must not be empty")
        #expect(throws: wrongName) { try ConnectRequest.File(name: "", url: "https://a.test/x") }
        let wrongURL = SequencingError.input(
            member: "url", problem: "must be an http, https or ftp URL without spaces or accented letters")
        for url in ["", "file:///etc/passwd", "https://", "https://a b", "https://a.test/größe.vcf"] {
            #expect(throws: wrongURL, "\(url)") { try ConnectRequest.File(name: "a", url: url) }
        }
        let wrongSize = SequencingError.input(member: "size", problem: "must not be negative")
        #expect(throws: wrongSize) { try ConnectRequest.File(name: "a", url: "https://a.test", size: -1) }
        let noSecret = SequencingError.input(member: "client_secret", problem: "it is empty")
        #expect(throws: noSecret) { try LegacyConnectCodec(secret: Secret("")) }
    }

    @Test("a request that makes too long a link is refused")
    func tooLong() async throws {
        let file = try ConnectRequest.File(
            name: "a", url: "https://files.example.test/" + String(repeating: "a", count: 7000))
        let request = try ConnectRequest(email: Sequencing.EmailAddress("a@b.test"), files: [file])
        let codec = try LegacyConnectCodec(secret: Secret("s"))
        #expect(await sequencingError { try codec.link(request) }?.code == "invalid_input")
    }

    @Test(
        "C07: delivering a link has an outcome",
        arguments: [
            (200, ConnectDelivery.Outcome.accepted), (400, .refused(status: 400)), (500, nil),
        ])
    func outcome(_ status: Int, _ expected: ConnectDelivery.Outcome?) async throws {
        let service = ScriptedService(["GET /connect": [.json("<html>", status: status)]])
        let link = try LegacyConnectCodec(secret: Secret("s")).link(request())
        let delivery = ConnectDelivery(transport: service)
        if let expected {
            #expect(try await delivery.deliver(link) == expected)
        } else {
            #expect(await sequencingError { try await delivery.deliver(link) }?.code == "service_error")
        }
        #expect(service.lines.count == 1)
    }

    @Test("W8: the codec shows nothing of its secret")
    func redaction() throws {
        let codec = try LegacyConnectCodec(secret: Secret(Self.longSecret))
        var text = ""
        dump(codec, to: &text)
        #expect(text.firstRange(of: Self.longSecret) == nil && "\(codec)".firstRange(of: Self.longSecret) == nil)
    }
}
