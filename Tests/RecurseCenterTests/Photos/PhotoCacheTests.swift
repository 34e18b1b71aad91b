import Foundation
import HTTPTypes
import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("Photos on disk", .heavy)
struct PhotoCacheTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1]
    private static let gif = Array("GIF89a one".utf8)
    private static let address = "GET https://a.example.net/x.png"

    private func ada(_ photo: String = "https://a.example.net/x.png") throws -> Profile {
        try Profile(JSONValue(parsing: Array(#"{"id":759,"image_path":"\#(photo)"}"#.utf8)))
    }

    @Test("RC-16: a photo is fetched once, lies there for its owner alone, and survives the process")
    func once() async throws {
        try await withHub { hub in
            let folder = try TemporaryFolder()
            let cache = try PhotoCache(folder: folder.path + "/photos", time: hub.time.source)
            let person = try await hub.profile(759)
            let photo = try #require(try await cache.photo(of: person, from: hub.center))
            #expect(photo.format == .png)
            #expect(photo.path.hasSuffix(".png"))
            #expect(try Data(contentsOf: URL(filePath: photo.path)).count > 2_000)
            hub.sandbox.clearRequests()
            #expect(try await cache.photo(of: person, from: hub.center) == photo)
            let later = try PhotoCache(folder: folder.path + "/photos", time: hub.time.source)
            #expect(try await later.photo(of: person, from: hub.center) == photo)
            #expect(later.stored(person.id) == photo)
            #expect(hub.paths.isEmpty)
            #expect(try folder.mode("photos") == 0o700)
            for name in folder.names("photos") { #expect(try folder.mode("photos/\(name)") == 0o600) }
        }
    }

    @Test("RC-16: an old photo is asked about, and kept when it has not changed")
    func revalidation() async throws {
        try await withHub { hub in
            let folder = try TemporaryFolder()
            let cache = try PhotoCache(folder: folder.path, lifetime: .seconds(60), time: hub.time.source)
            let person = try await hub.profile(759)
            let photo = try #require(try await cache.photo(of: person, from: hub.center))
            hub.sandbox.clearRequests()
            hub.time.advance(by: 61)
            #expect(cache.stored(person.id)?.isStale == true)
            #expect(try await cache.photo(of: person, from: hub.center) == photo)
            #expect(hub.sandbox.requests(.recurseCenter).map(\.status) == [302, 304])
            hub.time.advance(by: 59)
            #expect(try await cache.photo(of: person, from: hub.center) == photo)
            #expect(hub.paths.count == 2)
        }
    }

    @Test("RC-16: another URL in the profile is another photo, immediately")
    func changed() async throws {
        let folder = try TemporaryFolder()
        let time = TestTime()
        let service = ScriptedService([
            Self.address: [.bytes(Self.png)], "GET https://a.example.net/y.gif": [.bytes(Self.gif)],
        ])
        let center = try await service.center(time: time)
        let cache = try PhotoCache(folder: folder.path + "/p", time: time.source)
        _ = try await cache.photo(of: ada(), from: center)
        let other = try await cache.photo(of: ada("https://a.example.net/y.gif"), from: center)
        #expect(other?.format == .gif)
        #expect(folder.names("p").filter { !$0.hasSuffix(".json") }.count == 1)
        #expect(service.requests.last?.fields[.ifNoneMatch] == nil)
    }

    @Test("RC-16, RC-23: while the service cannot be asked, the old photo is used and says so")
    func offline() async throws {
        let folder = try TemporaryFolder()
        let time = TestTime()
        let service = ScriptedService([Self.address: [.bytes(Self.png), .lost]])
        let center = try await service.center(retry: .never, time: time)
        let cache = try PhotoCache(folder: folder.path, lifetime: .seconds(60), time: time.source)
        #expect(try await cache.photo(of: ada(), from: center)?.isStale == false)
        time.advance(by: 61)
        #expect(try await cache.photo(of: ada(), from: center)?.isStale == true)
    }

    @Test("D6: an error page, another type or a lost answer leaves nothing, and a later photo is kept")
    func errorPage() async throws {
        let folder = try TemporaryFolder()
        let service = ScriptedService([
            Self.address: [
                .bytes(Array("<html>".utf8), headers: [.contentType: "image/png"]), .bytes(Self.png, status: 500),
                .lost,
                .bytes(Self.png),
            ]
        ])
        let center = try await service.center(retry: .never)
        let cache = try PhotoCache(folder: folder.path + "/p")
        for _ in 0..<3 {
            #expect(await centerError { try await cache.photo(of: ada(), from: center) } != nil)
            #expect(folder.names("p").isEmpty)
            #expect(cache.stored(try ada().id) == nil)
        }
        #expect(try await cache.photo(of: ada(), from: center)?.format == .png)
    }

    @Test("D6: an error page does not take the place of the photo from before")
    func keepsOld() async throws {
        let folder = try TemporaryFolder()
        let time = TestTime()
        let service = ScriptedService([Self.address: [.bytes(Self.png), .bytes(Array("<html>".utf8))]])
        let center = try await service.center(time: time)
        let cache = try PhotoCache(folder: folder.path, lifetime: .seconds(60), time: time.source)
        let photo = try #require(try await cache.photo(of: ada(), from: center))
        time.advance(by: 61)
        #expect(await centerError { try await cache.photo(of: ada(), from: center) }?.code == "unusable_photo")
        #expect(Array(try Data(contentsOf: URL(filePath: photo.path))) == Self.png)
    }

    @Test("D6: a photo that could not be written is not there")
    func unwritable() async throws {
        let folder = try TemporaryFolder()
        let service = ScriptedService([Self.address: [.bytes(Self.png)]])
        let center = try await service.center()
        let cache = try PhotoCache(folder: folder.path + "/p")
        try FileManager.default.removeItem(atPath: folder.path + "/p")
        #expect(await centerError { try await cache.photo(of: ada(), from: center) }?.code == "file_failed")
        #expect(cache.stored(try ada().id) == nil)
    }

    @Test(
        "D6: a picture that is truncated, replaced or without its description counts as absent and is fetched again",
        arguments: ["cut", "replaced", "note", "gone"])
    func damaged(_ damage: String) async throws {
        let folder = try TemporaryFolder()
        let service = ScriptedService([Self.address: [.bytes(Self.png)]])
        let center = try await service.center()
        let cache = try PhotoCache(folder: folder.path)
        let photo = try #require(try await cache.photo(of: ada(), from: center))
        switch damage {
        case "cut": try Data(Self.png.prefix(5)).write(to: URL(filePath: photo.path))
        case "replaced": try Data("<html>1234".utf8).write(to: URL(filePath: photo.path))
        case "note":
            try Data(#"{"version":1,"file":"759-/../../x"}"#.utf8).write(to: URL(filePath: folder.path + "/759.json"))
        default: try FileManager.default.removeItem(atPath: photo.path)
        }
        #expect(cache.stored(try ada().id) == nil)
        #expect(try await cache.photo(of: ada(), from: center) == photo)
        #expect(service.lines.count == 2)
    }

    @Test("ten concurrent requests cause one download")
    func together() async throws {
        let folder = try TemporaryFolder()
        let service = ScriptedService([Self.address: [.bytes(Self.png)]])
        let center = try await service.center()
        let cache = try PhotoCache(folder: folder.path)
        let profile = try ada()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 { group.addTask { try await cache.photo(of: profile, from: center) != nil } }
            for try await isThere in group { #expect(isThere) }
        }
        #expect(service.lines.count == 1)
    }

    @Test("a person without a photo, or who was forgotten, leaves no file")
    func removed() async throws {
        let folder = try TemporaryFolder()
        let service = ScriptedService([Self.address: [.bytes(Self.png)]])
        let center = try await service.center()
        let cache = try PhotoCache(folder: folder.path + "/p")
        _ = try await cache.photo(of: ada(), from: center)
        #expect(try await cache.photo(of: ada("/no_photo.png"), from: center) == nil)
        #expect(folder.names("p").isEmpty)
        _ = try await cache.photo(of: ada(), from: center)
        try cache.forget(try ada().id)
        #expect(folder.names("p").isEmpty)
    }
}
