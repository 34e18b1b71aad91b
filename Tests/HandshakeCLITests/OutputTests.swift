import Foundation
import Testing

extension CommandTests {
    @Suite("Results, errors and statuses")
    struct OutputTests {
        private let command: Command

        init() throws { command = try Command() }

        @Test("help and version are results with status 0")
        func help() async throws {
            for arguments in [["--help"], ["login", "--help"], ["nearby", "show", "--help"], ["--version"]] {
                let done = try await command.start(arguments).finish()
                #expect(done.ending == .status(0) && !done.stdout.isEmpty && done.stderr.isEmpty, "\(done)")
            }
        }

        @Test("an error is one line on standard error, with --json one object, and nothing is a result")
        func errors() async throws {
            let text = try await command.run("token", "unknown")
            #expect(text.ending == .status(3) && text.stdout.isEmpty)
            #expect(text.stderr.hasPrefix("handshake: ") && text.stderr.split(separator: "\n").count == 1)
            let json = try await command.run("token", "unknown", "--json")
            #expect(json.ending == .status(3) && json.stdout.isEmpty)
            #expect(json.error["status"] as? Int == 3 && json.error["code"] as? String == "sign_in_required")
            let usage = try await command.run("bogus", "--json")
            #expect(usage.ending == .status(64) && usage.error["code"] as? String == "usage")
        }

        @Test(
            "a life of tokens that is none, or longer than a hundred years, is status 64",
            arguments: [0, 3_155_760_001, .max])
        func tokenLifetime(_ seconds: Int) async throws {
            let done = try await command.start(["sandbox", "--token-lifetime", "\(seconds)"]).finish()
            #expect(done.ending == .status(64) && done.stderr.contains("takes 1 to 3155760000 seconds"), "\(done)")
        }

        @Test("a user is greeted by name and batch, and the account is used, listed and signed out")
        func account() async throws {
            let sandbox = try await SandboxProcess(command)
            let login = try await command.signIn(at: sandbox)
            #expect(login.ending == .status(0) && login.stdout.isEmpty, "\(login)")
            #expect(login.stderr.contains(/Signed in to Recurse Center as .+ \(.+\)\./), "\(login)")
            let again = try await command.signIn(at: sandbox, "--json")
            #expect(again.json["subject"] as? String == "759" && again.json["account"] as? String == "recurse-center")
            let accounts = try await command.run("accounts", "--json")
            let list = accounts.json["accounts"] as? [[String: Any]] ?? []
            #expect(list.map { $0["state"] as? String } == ["signed_in"])
            let table = try await command.run("accounts").stdout
            #expect(table.contains("signed in") && !table.contains("signed_in"), "\(table)")
            let shown = try await command.run("inspect", "recurse-center").stdout
            #expect(shown.contains("signed in") && shown.contains("https, or http on this machine"), "\(shown)")
            #expect(!shown.contains("_allowed") && !shown.contains("expires_at"), "\(shown)")
            let response = try await command.run(
                "request", "GET", "profiles/me", "--account", "recurse-center", "--json")
            #expect(response.json["status"] as? Int == 200, "\(response)")
            #expect(try await command.run("logout", "recurse-center", "--json").json["forgotten"] as? Bool == true)
            #expect(try await command.run("token", "recurse-center").ending == .status(3))
        }

        @Test(
            "a file that cannot be read is named in one sentence",
            arguments: [["nearby", "replay"], ["nearby", "befriend"]])
        func unreadable(_ arguments: [String]) async throws {
            let done = try await command.start(arguments + ["no such file", "--json"]).finish()
            #expect(done.ending == .status(64) && done.error["code"] as? String == "file_unreadable", "\(done)")
            #expect(
                done.error["message"] as? String
                    == "“no such file” cannot be read. Check that it exists and that you may read it.")
        }

        @Test("a recording with a packet of any time at all ends, and a log is in local time")
        func replay() async throws {
            let frame = "1aff4c0002153ee761a0f73711e3a3ac0800200c9a6600010024c5"
            let times = [Date().timeIntervalSince1970 - 60, Date().timeIntervalSince1970 - 55, 4_000_000_000, 9e15]
            let lines = times.map { #"{"t": \#($0), "addr": "D0:00:00:00:02:F7", "rssi": -59, "ad": "\#(frame)"}"# }
            let file = try command.file("recording.jsonl", lines.joined(separator: "\n"))
            let done = try await command.run(
                "nearby", "replay", file, "--no-delay", "--json", "--keep", "--me", "1")
            #expect(done.ending == .status(0), "\(done)")
            let log = try await command.run("nearby", "log", environment: ["TZ": "Asia/Kolkata"])
            #expect(log.stdout.contains("+05:30"), "\(log)")
            let show = try await command.run("nearby", "show", "36", "--json")
            #expect(show.json["person"] as? Int == 36, "\(show)")
            #expect(
                try await command.run("nearby", "show", "37", "--json").error["code"] as? String == "unknown_person")
        }

        @Test("an area is one object on a line, and a position that cannot be is status 64")
        func places() async throws {
            let regions = try command.file(
                "areas.geojson",
                """
                {"type": "Feature", "id": "office", "properties": {"radius": 200},
                 "geometry": {"type": "Point", "coordinates": [13.405, 52.52]}}
                """)
            let list = ["places", "list", "--regions", regions, "--json", "--at"]
            let inside = try await command.start(list + ["52.52,13.405"]).finish()
            #expect(inside.ending == .status(0) && inside.stdout.split(separator: "\n").count == 1, "\(inside)")
            #expect(inside.json["region"] as? String == "office" && inside.json["state"] as? String == "inside")
            #expect((inside.json["distance_to_edge"] as? Double).map { abs($0 + 200) < 1 } == true, "\(inside)")
            let nowhere = try await command.start(list + ["91,0"]).finish()
            #expect(nowhere.ending == .status(64) && nowhere.stdout.isEmpty, "\(nowhere)")
            #expect(nowhere.error["status"] as? Int == 64 && nowhere.error["message"] is String, "\(nowhere)")
        }

        @Test("friends are listed with how their keys came and the day until which they are recognised")
        func friends() async throws {
            let none = try await command.run("nearby", "friends")
            #expect(none.ending == .status(0) && none.stderr.contains("handshake nearby pair"), "\(none)")
            let keys = try await command.run(
                "nearby", "share", "--me", "36", "--days", "2",
                environment: ["HANDSHAKE_HOME": command.folder + "/friend"])
            let befriended = try await command.start(["nearby", "befriend", "-"], input: keys.stdout).finish()
            #expect(befriended.ending == .status(0), "\(befriended)")
            let fingerprint = try #require(keys.stderr.firstMatch(of: /[0-9a-f]{4}( [0-9a-f]{4}){7}/)).0
            #expect(befriended.stderr.contains(fingerprint), "both can compare it")
            let friends = try await command.run("nearby", "friends", "--json").json["friends"] as? [[String: Any]]
            #expect(friends?.map { $0["person"] as? Int } == [36])
            #expect(friends?.map { $0["by"] as? String } == ["file"])
            #expect((friends?.first?["until"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil)
        }

        @Test("a radio that never worked is told of once")
        func oneError() async throws {
            let done = try await command.run(
                "nearby", "watch", "--duration", "1", "--me", "36",
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(command.folder)/no-bus"])
            #expect(done.ending == .status(6), "\(done)")
            #expect(done.stderr.ranges(of: "no-bus").count == 1, "\(done)")
        }
    }
}
