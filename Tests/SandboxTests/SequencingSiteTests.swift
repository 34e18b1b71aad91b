import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Sequencing.com stand-in: accounts, Connect, beacons, partners, console", .heavy)
struct SequencingSiteTests {
    private static let register =
        "/indexApi.php?q=sequencing/public/webservice/user/seq_register.json"
    private static let reset = "/indexApi.php?q=sequencing/public/webservice/user/seq_new_pass.json"

    private func post(_ sandbox: Sandbox, _ path: String, _ body: String) async throws -> WireClient.Answer {
        let wire = try WireClient(origin: sandbox.sequencing.origin)
        return try await wire.send("POST", path, headers: ["Content-Type": "application/json"], body: body)
    }

    @Test("an account is registered once, and then its password can be reset")
    func accounts() async throws {
        try await withSandbox { sandbox in
            let secret = try #require(sandbox.sequencing.clients.compactMap(\.secret).first)
            let body = #"{"client_id":"\#(secret)","email":"new@example.test"}"#
            #expect(try await post(sandbox, Self.reset, body).number("errorCode") == 103)
            #expect(try await post(sandbox, Self.register, body).text == #"{"status":0}"#)
            #expect(
                try await post(sandbox, Self.register, body).text
                    == #"{"status":1,"errorCode":101,"errorMessage":"That address is already registered."}"#)
            #expect(try await post(sandbox, Self.reset, body).text == #"{"status":0}"#)
        }
    }

    @Test(
        "a public client says its id; what does not fit is an error code in an answer of 200",
        arguments: [
            ("my-genome-app", "ada@example.test", 101), ("My Genome App (iPhone)", "new@example.test", 104),
            ("", "new@example.test", 104), ("my-genome-app", "new", 102), ("my-genome-app", "a@b@c.test", 102),
            ("my-genome-app", "a b@c.test", 102), ("my-genome-app", "@c.test", 102),
            ("my-genome-app", "a@c..test", 102),
            ("my-genome-app", "", 102), ("my-genome-app", "new@[127.0.0.1]", nil),
        ] as [(String, String, Int?)])
    func accountProblems(_ client: String, _ email: String, _ code: Int?) async throws {
        try await withSandbox { sandbox in
            let body = #"{"client_id":"\#(client)","email":"\#(email)"}"#
            let answer = try await post(sandbox, Self.register, body)
            #expect(answer.status == 200)
            #expect(answer.number("errorCode") == code)
            if code == 102 { #expect(answer.text.contains(#""errorMessage":{"email":"Not an email address."}"#)) }
            #expect(try await post(sandbox, Self.register, "x").status == 400)
        }
    }

    private static let vectors = [
        (
            "adc6d434d8a60258e8bd27e9dae8841e",
            """
            ux9Pv5gz7qdBuc03LCrCf8YjJQjcTdYZ8h7YoO4ejopUNA0AC+sFE3zKSXPjQXDlVCRJo96btEUN4MQOynEgg/5V2EoNilEVWx+gp3bk2jJN\
            CuJyK8UpHsA8EkgDnO2mQgrgvJjGlOpM+tk6NCppPzLzDk928tt9QMFX803nTTKnQXdwJsbWCB4gXcbaVbn7pvYAy7t7xBLmMqcEg8tDwVi3\
            7IPIhTcs2U2btLWVYsZNrEDm4KyG+yYerCUYJ77yEFwnjqPfQ/eIIC7XRPyHbNZXpW/y7yoeUbPJ1tRXz48=
            """
        ),
        (
            "68a4d52c671140f4338b8d9592ec7a59",
            """
            Z8YyItXn1FHGQpELT/7vkHVGTiaZ01ojOWDKDUCWrW/P1jxpeH47llkcjz+sQ42CfrhZKnVueYmo5Au5Gz3Exc1qPsq3WJtsq21rPfoogkMU\
            9KA0KuDwrOS+NpjoJa5nPGZgmqRtu0nV44xJ6JjQRdC8eItfdcUzjolZUAxbSrCZ5GsgAP0UmXa8NiE0BXwd4pp3jLbbtg9ztHgJQpfqRdoC\
            yTBHm7nYin/odWh7rhvdSyRkEhrsZqvhxYSIrosX
            """
        ),
    ]

    @Test(
        "the dossier's two links are decoded, encoded once, twice or not at all, and the page closes itself",
        arguments: vectors.indices, [0, 1, 2])
    func connect(_ vector: Int, _ encodings: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let (hash, base64) = Self.vectors[vector]
            let json = (0..<encodings).reduce(base64) { text, _ in OAuthSteps.encoded(text) }
            let answer = try await steps.oauth.wire.send("GET", "/connect?c=\(hash)&json=\(json)")
            #expect(answer.status == 200)
            #expect(answer.text.contains("ada@example.test") && answer.text.contains("ada.vcf.gz"))
            #expect(answer.text.contains("<script>window.close()</script>"))
            #expect(answer["Content-Security-Policy"]?.contains("script-src 'sha256-") == true)
            sandbox.advanceClock(by: 31)
            let files = try await steps.get("/DataSourceList?uploaded=true").objects()
            #expect(files.last?["Name"] as? String == "ada.vcf.gz")
        }
    }

    @Test("a link with another hash, key or text is a page with status 400")
    func connectProblems() async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.sequencing.origin)
            let good = OAuthSteps.encoded(Self.vectors[0].1)
            let other = OAuthSteps.encoded(Self.vectors[1].1)
            for query in [
                "", "?c=\(Self.vectors[0].0)", "?c=00&json=\(good)", "?c=\(Self.vectors[0].0)&json=\(other)",
                "?c=\(Self.vectors[0].0)&json=!!", "?c=\(Self.vectors[0].0)&json=AAAA",
            ] {
                let answer = try await wire.send("GET", "/connect" + query)
                #expect(answer.status == 400)
                #expect(answer["Content-Type"]?.hasPrefix("text/html") == true)
                #expect(!answer.text.contains("window.close"))
            }
        }
    }

    @Test(
        "beacons answer without a token, with and without a slash",
        arguments: [
            ("/PublicBeacons/?chrom=1&pos=2&allele=A", true), ("/PublicBeacons?chrom=1&pos=3&allele=A", false),
            ("/SequencingBeacon/?chrom=1&pos=3&allele=A", true), ("/SequencingBeacon?chrom=1&pos=2&allele=A", false),
        ])
    func beacons(_ target: String, _ exists: Bool) async throws {
        try await withSandbox { sandbox in
            let answer = try await WireClient(origin: sandbox.sequencing.origin).send("GET", target)
            #expect(answer.status == 200)
            #expect(answer.text.hasSuffix(#""allele":"A","exists":\#(exists)}"#))
        }
    }

    @Test(
        "a bad chromosome, position or allele is 400",
        arguments: [
            "", "?pos=2&allele=A", "?chrom=X&pos=2&allele=A", "?chrom=0&pos=2&allele=A", "?chrom=26&pos=2&allele=A",
            "?chrom=1&pos=0&allele=A", "?chrom=1&pos=9223372036854775807&allele=A", "?chrom=1&pos=2",
            "?chrom=1&pos=2&allele=Z", "?chrom=1&pos=2&allele=%3Cb%3E",
        ])
    func badBeacons(_ query: String) async throws {
        try await withSandbox { sandbox in
            let wire = try WireClient(origin: sandbox.sequencing.origin)
            for beacon in ["/PublicBeacons/", "/SequencingBeacon"] {
                #expect(try await wire.send("GET", beacon + query).refusal == "400 invalid_request")
            }
        }
    }

    @Test(
        "partners push notices and job results with a token or a key",
        arguments: [
            ("/UserAlertNotify", #"{"SendOnSite":true,"NotificationUrl":"https://h","PlainTextBody":"x"}"#, 0),
            ("/UserAlertNotify", #"{"SendOnSite":true}"#, 1),
            ("/v1/TpUpdateExternalJob", #"{"sequencingJobId":1,"status":0,"completionStatus":null}"#, 0),
            ("/v1/TpUpdateExternalJob", #"{"sequencingJobId":1,"status":1,"completionStatus":3}"#, 0),
            ("/v1/TpUpdateExternalJob", #"{"sequencingJobId":1,"status":1}"#, 1),
            ("/v1/TpUpdateExternalJob", #"{"sequencingJobId":1,"status":0,"completionStatus":0}"#, 1),
            ("/v1/TpUpdateExternalJob", #"{"status":0}"#, 1),
        ])
    func partners(_ path: String, _ body: String, _ status: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            #expect(try await steps.post(path, body).number("status") == status)
            #expect(try await post(sandbox, path, body).status == 401)
            let keyed = try await post(sandbox, path + "?apiKey=sandbox-partner-key", body)
            #expect(keyed.number("status") == (path.hasPrefix("/v1") ? status : nil))
        }
    }

    @Test("F04: the console shows a user's files and what two app chains find in them, without a script or a token")
    func console() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let page = try await steps.oauth.wire.send("GET", "/console?as=ada%40example.test")
            #expect(page.status == 200 && !page.text.contains("<script"))
            #expect(
                page.text.contains(
                    "<td>227001</td><td>ada_genome.vcf.gz</td><td>Uploaded</td><td>High</td><td>Yes</td>"))
            #expect(page.text.contains("<td>FromApps</td><td>NoData</td><td>Insufficient Data</td>"))
            #expect(page.text.contains("<td>no result</td><td>no result</td>"))
            #expect(page.text.contains("&lt;b&gt;Tim&lt;/b&gt;") && !page.text.contains("<b>Tim"))
            let policy = try #require(page["Content-Security-Policy"])
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("script-src"))
            let many = try await steps.oauth.wire.send("GET", "/console?as=4714")
            #expect(many.text.contains("… and 4910 more."))
            #expect(try await steps.oauth.wire.send("GET", "/console?as=unknown").status == 404)
        }
    }

    @Test("A03: the sign-in page links a new account, a forgotten password and two other services")
    func elsewhere() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let page = try await steps.oauth.wire.send("GET", steps.oauth.authorizationTarget())
            for part in [
                #"<a href="/user/password">Forgot your password?</a>"#, #"<a href="/user/register">Create one</a>"#,
                #"name="provider" value="Google""#, #"name="provider" value="LinkedIn""#,
            ] { #expect(page.text.contains(part), "\(part)") }
        }
    }

    @Test(
        "A03: the pages for a new account and a forgotten password answer as their routes do",
        arguments: [
            ("/user/register", "new@example.test", 200, "on its way"),
            ("/user/register", "ada@example.test", 422, "already registered"),
            ("/user/password", "ada@example.test", 200, "on its way"),
            ("/user/password", "new@example.test", 422, "no account"),
            ("/user/password", "<b>", 422, "Not an email address"),
        ])
    func accountPages(_ path: String, _ email: String, _ status: Int, _ words: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            #expect(try await steps.oauth.wire.send("GET", path).text.contains("E-mail address"))
            let answer = try await steps.oauth.wire.send(
                "POST", path, headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: "email=\(email.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")")
            #expect(answer.status == status && answer.text.contains(words) && !answer.text.contains("<b>"))
        }
    }

    @Test("the console's files are those of the file list, for the person named or the first one, by the same flags")
    func consoleFiles() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let list = try await steps.get("/DataSourceList?all=true")
            for query in ["", "?as=ada%40example.test", "?as=4711"] {
                #expect(try await steps.oauth.wire.send("GET", "/console/files" + query).body == list.body)
            }
            #expect(try await steps.oauth.wire.send("GET", "/console/files?as=4714").objects().count == 5010)
            #expect(try await steps.oauth.wire.send("GET", "/console/files?as=unknown").status == 404)
            for flags in ["sample=true", "uploaded=true&shared=true", "all=true"] {
                let listed = try await steps.oauth.wire.send("GET", "/console/files?as=4711&" + flags)
                #expect(try await listed.body == steps.get("/DataSourceList?" + flags).body)
            }
        }
    }
}
