import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Recurse Center stand-in's hub and photos", .heavy)
struct RecurseCenterHubTests {
    private static let mine = "/api/v1/hub_visits/759/2025-07-01"
    private static let token = "sandbox-personal-access-token-759"

    private func send(
        _ wire: WireClient, _ method: String, _ path: String, body: String = "", type: String = "application/json"
    ) async throws -> WireClient.Answer {
        var headers = ["Authorization": "Bearer \(Self.token)", "Content-Type": type]
        if method == "PATCH" { headers["Content-Length"] = String(body.utf8.count) }
        // The client states the length of a body that is there by itself.
        if !body.isEmpty { headers["Content-Length"] = nil }
        return try await wire.send(method, path, headers: headers, body: body)
    }

    private func withHub(_ body: (Sandbox, WireClient) async throws -> Void) async throws {
        try await withSandbox { sandbox in
            try await body(sandbox, try WireClient(origin: sandbox.recurseCenter.origin))
        }
    }

    @Test("checking in is idempotent, notes change only when stated, checking out removes")
    func visit() async throws {
        try await withHub { _, wire in
            #expect(try await send(wire, "GET", Self.mine).status == 404)
            let first = try await send(wire, "PATCH", Self.mine, body: #"{"notes":"hello","app_data":"{\"a\":1}"}"#)
            #expect(first.status == 200)
            #expect(
                first.text.contains(#""person":{"id":759,"name":"Ada Example"},"date":"2025-07-01","app_data":{"a":1}"#)
            )
            let again = try await send(wire, "PATCH", Self.mine)
            #expect(again.string("notes") == "hello")
            let form = try await send(
                wire, "PATCH", Self.mine, body: "notes=caf%C3%A9", type: "application/x-www-form-urlencoded")
            #expect(form.string("notes") == "café")
            #expect(try await send(wire, "PATCH", Self.mine, body: #"{"notes":""}"#).string("notes") == "")
            let list = try await send(wire, "GET", "/api/v1/hub_visits?person_id=759")
            #expect(list.text.components(separatedBy: #""date""#).count == 2)
            #expect(try await send(wire, "DELETE", Self.mine).status == 204)
            #expect(try await send(wire, "DELETE", Self.mine).status == 404)
        }
    }

    @Test("another user's visit is 403, a missing one 404, a body that is not JSON 400")
    func refusals() async throws {
        try await withHub { _, wire in
            for method in ["PATCH", "DELETE"] {
                for (visit, status) in [("65535/2024-05-01", 403), ("1/2024-05-01", 404), ("759/2024-02-30", 404)] {
                    let answer = try await send(wire, method, "/api/v1/hub_visits/\(visit)")
                    #expect(answer.status == status)
                }
            }
            for body in ["nonsense", "[]", #"{"app_data":"{"}"#] {
                let answer = try await send(wire, "PATCH", Self.mine, body: body)
                #expect(answer.status == 400)
            }
        }
    }

    @Test(
        "visits are filtered, and paged by at most 200",
        arguments: [
            ("date=2024-05-01", 2), ("start_date=2024-05-02", 1), ("end_date=2024-05-01", 2), ("person_id=65535", 2),
            ("start_date=2024-05-01&end_date=2024-05-02", 3), ("person_id=65535&per_page=1&page=2", 1),
            ("person_id=65535&per_page=1&page=3", 0), ("person_id=65535&per_page=0", 1),
            ("person_id=65535&per_page=100000&page=1", 2), ("page=99999999999999", 0), ("", 0),
        ])
    func filters(_ query: String, _ count: Int) async throws {
        try await withHub { _, wire in
            let answer = try await send(wire, "GET", "/api/v1/hub_visits?\(query)")
            #expect(answer.text.components(separatedBy: #""date":"#).count - 1 == count)
        }
    }

    @Test("without a filter it is today in New York, on the sandbox's clock")
    func today() async throws {
        try await withHub { sandbox, wire in
            let calendar = try newYork()
            // No midnight falls between a request and the next one.
            sandbox.holdClock(at: Date(timeIntervalSince1970: 1_735_689_600))
            for hours in [0, 5, 13, 2880] as [Double] {
                sandbox.advanceClock(by: hours * 3600)
                let listed = try await send(wire, "GET", "/api/v1/hub_visits")
                #expect(listed.status == 200)
                let offset = try #require(sandbox.requests(.recurseCenter).last?.at)
                let parts = calendar.dateComponents([.year, .month, .day], from: offset)
                let day = String(format: "%04d-%02d-%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
                #expect(try await send(wire, "PATCH", "/api/v1/hub_visits/759/\(day)").status == 200)
                #expect(try await send(wire, "GET", "/api/v1/hub_visits").text.contains(#""date":"\#(day)""#))
            }
        }
    }

    private func newYork() throws -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "America/New_York"))
        return calendar
    }

    @Test("a photo is behind a redirect to another origin, and the log tells who brought a token")
    func photo() async throws {
        try await withHub { sandbox, wire in
            let profile = try await send(wire, "GET", "/api/v1/profiles/759")
            let address = try #require(profile.string("image_path"))
            let path = String(address.dropFirst(sandbox.recurseCenter.origin.count))
            sandbox.clearRequests()
            let redirect = try await wire.send("GET", path)
            #expect(redirect.status == 302)
            let location = try #require(redirect["Location"])
            #expect(location.hasPrefix("http://localhost:"))
            #expect(location.hasSuffix("/photos/759"))
            let photo = try await send(wire, "GET", "/photos/759")
            #expect(photo.status == 200)
            #expect(photo["Content-Type"] == "image/png")
            #expect(sandbox.requests(.recurseCenter).map(\.authorizationScheme) == [nil, "Bearer"])
        }
    }

    @Test("the picture is a PNG of 150 by 150 pixels, another one for each person, and known again by its tag")
    func picture() async throws {
        try await withHub { _, wire in
            let photo = try await wire.send("GET", "/photos/759")
            #expect(photo.isComplete)
            #expect(photo.body.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
            #expect(Array(photo.body[16..<24]) == [0, 0, 0, 150, 0, 0, 0, 150])
            // The checksum of an empty IEND chunk, from RFC 2083.
            #expect(photo.body.suffix(4) == [0xAE, 0x42, 0x60, 0x82])
            #expect(try await wire.send("GET", "/photos/70000").body != photo.body)
            let tag = try #require(photo["ETag"])
            let known = try await wire.send("GET", "/photos/759", headers: ["If-None-Match": tag])
            #expect(known.status == 304)
            #expect(known.body.isEmpty)
            #expect(try await wire.send("GET", "/photos/759", headers: ["If-None-Match": "\"x\""]).status == 200)
            for path in ["/photos/1", "/photos/x", "/rails/active_storage/representations/redirect/BLOB1/V/1.jpg"] {
                #expect(try await wire.send("GET", path).status == 404)
            }
            for path in ["/assets/people/759_150-0123abcd.jpg", "/assets/people/no_photo_150.jpg"] {
                #expect(try await wire.send("GET", path).status == 200)
            }
        }
    }
}
