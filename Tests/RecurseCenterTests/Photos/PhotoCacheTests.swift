import Foundation
import HTTPTypes
import Handshake
import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("Photos in a vault", .heavy)
struct PhotoCacheTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1]
    private static let gif = Array("GIF89a one".utf8)
    private static let address = "GET https://a.example.net/x.png"

    private func ada(_ photo: String = "https://a.example.net/x.png") throws -> Profile {
        try Profile(JSONValue(parsing: Array(#"{"id":759,"image_path":"\#(photo)"}"#.utf8)))
    }

    private let vault = MemoryVault()

    private func cache(_ time: TestTime = TestTime(), lifetime: Duration = .seconds(7 * 86_400)) -> PhotoCache {
        PhotoCache(in: vault, community: "recurse-center", account: "ada", lifetime: lifetime, time: time.source)
    }

    /// How many photos are stored.
    private var count: Int { get async throws { try await vault.keys(of: .photo).keys.count } }

    @Test("RC-16: a photo is fetched once, and survives the process")
    func once() async throws {
        try await withHub { hub in
            let cache = cache(hub.time)
            let person = try await hub.profile(759)
            let photo = try #require(try await cache.photo(of: person, from: hub.center))
            #expect(photo.format == .png)
            #expect(photo.bytes.count > 2_000)
            hub.sandbox.clearRequests()
            #expect(try await cache.photo(of: person, from: hub.center) == photo)
            let later = self.cache(hub.time)
            #expect(try await later.photo(of: person, from: hub.center) == photo)
            #expect(await later.stored(person.id) == photo)
            #expect(hub.paths.isEmpty)
        }
    }

    @Test("RC-16: a photo is a record of the vault, and no file has a byte of it")
    func encrypted() async throws {
        let folder = try TemporaryFolder()
        let service = ScriptedService([Self.address: [.bytes(Self.png + Array("a face".utf8))]])
        let center = try await service.center()
        let files = try FileVault(directory: folder.path + "/vault", keyFile: folder.path + "/key")
        let cache = PhotoCache(in: files, community: "recurse-center", account: "ada")
        _ = try await cache.photo(of: ada(), from: center)
        let written = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .compactMap { FileManager.default.contents(atPath: folder.path + "/" + $0) }
        #expect(written.contains { $0.count > 100 })
        #expect(!written.contains { $0.firstRange(of: Data("a face".utf8)) != nil })
        #expect(await cache.stored(try ada().id) != nil)
    }

    @Test("RC-16: an old photo is asked about, and kept when it has not changed")
    func revalidation() async throws {
        try await withHub { hub in
            let cache = cache(hub.time, lifetime: .seconds(60))
            let person = try await hub.profile(759)
            let photo = try #require(try await cache.photo(of: person, from: hub.center))
            hub.sandbox.clearRequests()
            hub.time.advance(by: 61)
            #expect(await cache.stored(person.id)?.isStale == true)
            #expect(try await cache.photo(of: person, from: hub.center) == photo)
            #expect(hub.sandbox.requests(.recurseCenter).map(\.status) == [302, 304])
            hub.time.advance(by: 59)
            #expect(try await cache.photo(of: person, from: hub.center) == photo)
            #expect(hub.paths.count == 2)
        }
    }

    @Test("RC-16: another URL in the profile is another photo, immediately")
    func changed() async throws {
        let service = ScriptedService([
            Self.address: [.bytes(Self.png)], "GET https://a.example.net/y.gif": [.bytes(Self.gif)],
        ])
        let center = try await service.center()
        let cache = cache()
        _ = try await cache.photo(of: ada(), from: center)
        let other = try await cache.photo(of: ada("https://a.example.net/y.gif"), from: center)
        #expect(other?.format == .gif)
        #expect(try await count == 1)
        #expect(service.requests.last?.fields[.ifNoneMatch] == nil)
    }

    @Test("RC-16, RC-23: while the service cannot be asked, the old photo is used and says so")
    func offline() async throws {
        let time = TestTime()
        let service = ScriptedService([Self.address: [.bytes(Self.png), .lost]])
        let center = try await service.center(retry: .never, time: time)
        let cache = cache(time, lifetime: .seconds(60))
        #expect(try await cache.photo(of: ada(), from: center)?.isStale == false)
        time.advance(by: 61)
        #expect(try await cache.photo(of: ada(), from: center)?.isStale == true)
    }

    @Test("D6: an error page, another type or a lost answer leaves nothing, and a later photo is kept")
    func errorPage() async throws {
        let service = ScriptedService([
            Self.address: [
                .bytes(Array("<html>".utf8), headers: [.contentType: "image/png"]), .bytes(Self.png, status: 500),
                .lost,
                .bytes(Self.png),
            ]
        ])
        let center = try await service.center(retry: .never)
        let cache = cache()
        for _ in 0..<3 {
            #expect(await centerError { try await cache.photo(of: ada(), from: center) } != nil)
            #expect(try await count == 0)
            #expect(await cache.stored(try ada().id) == nil)
        }
        #expect(try await cache.photo(of: ada(), from: center)?.format == .png)
    }

    @Test("D6: an error page does not take the place of the photo from before")
    func keepsOld() async throws {
        let time = TestTime()
        let service = ScriptedService([Self.address: [.bytes(Self.png), .bytes(Array("<html>".utf8))]])
        let center = try await service.center(time: time)
        let cache = cache(time, lifetime: .seconds(60))
        _ = try #require(try await cache.photo(of: ada(), from: center))
        time.advance(by: 61)
        #expect(await centerError { try await cache.photo(of: ada(), from: center) }?.code == "unusable_photo")
        #expect(await cache.stored(try ada().id)?.bytes == Self.png)
    }

    @Test("D6: a photo that could not be written is not there")
    func unwritable() async throws {
        let service = ScriptedService([Self.address: [.bytes(Self.png)]])
        let center = try await service.center()
        let cache = PhotoCache(in: ReadOnlyVault(), community: "recurse-center", account: "ada")
        #expect(
            await centerError { try await cache.photo(of: ada(), from: center) }
                == .account(.vault(.unavailable("disk full"))))
        #expect(await cache.stored(try ada().id) == nil)
    }

    @Test(
        "D6: a record that is truncated, replaced or without its description counts as absent and is fetched again",
        arguments: [0, 7, 8, 11, 12, 30, 40])
    func damaged(_ length: Int) async throws {
        let service = ScriptedService([Self.address: [.bytes(Self.png)]])
        let center = try await service.center()
        let cache = cache()
        let photo = try #require(try await cache.photo(of: ada(), from: center))
        let key = try #require(try await vault.keys(of: .photo).keys.first)
        try await vault.update(key) { record in
            try await record.replace(with: Array((await record.contents ?? []).prefix(length)))
        }
        #expect(await cache.stored(try ada().id) == nil)
        #expect(try await cache.photo(of: ada(), from: center) == photo)
        #expect(service.lines.count == 2)
    }

    @Test("a photo that is longer than a vault's record is refused before it is read whole")
    func tooLong() async throws {
        let service = ScriptedService([Self.address: [.bytes(Self.png + [UInt8](repeating: 0, count: 1 << 20))]])
        let center = try await service.center(retry: .never)
        let cache = cache()
        #expect(await centerError { try await cache.photo(of: ada(), from: center) } != nil)
        #expect(try await count == 0)
    }

    @Test("ten concurrent requests cause one download")
    func together() async throws {
        let service = ScriptedService([Self.address: [.bytes(Self.png)]])
        let center = try await service.center()
        let cache = cache()
        let profile = try ada()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 { group.addTask { try await cache.photo(of: profile, from: center) != nil } }
            for try await isThere in group { #expect(isThere) }
        }
        #expect(service.lines.count == 1)
    }

    @Test("a person without a photo, or who was forgotten, leaves no record")
    func removed() async throws {
        let service = ScriptedService([Self.address: [.bytes(Self.png)]])
        let center = try await service.center()
        let cache = cache()
        _ = try await cache.photo(of: ada(), from: center)
        #expect(try await cache.photo(of: ada("/no_photo.png"), from: center) == nil)
        #expect(try await count == 0)
        _ = try await cache.photo(of: ada(), from: center)
        #expect(try await cache.forget(try ada().id))
        #expect(try await count == 0)
        #expect(try await !cache.forget(try ada().id))
    }
}

/// A vault whose disk is full.
struct ReadOnlyVault: Vault {
    func record(_ key: VaultKey) async throws -> [UInt8]? { nil }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { VaultListing(keys: []) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        throw VaultError.unavailable("disk full")
    }
}
