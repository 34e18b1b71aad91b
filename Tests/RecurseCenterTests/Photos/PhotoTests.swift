import Foundation
import HTTPTypes
import Handshake
import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("Photos", .heavy)
struct PhotoTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0]

    private func profile(_ photo: String, _ more: String = "") throws -> Profile {
        try Profile(JSONValue(parsing: Array(#"{"id":759,"image_path":"\#(photo)"\#(more)}"#.utf8)))
    }

    @Test("RC-16, scenario 9: the redirect to another origin is followed without the token")
    func redirect() async throws {
        try await withHub { hub in
            let ada = try await hub.profile(759)
            hub.sandbox.clearRequests()
            let photo = try #require(try await hub.center.photo(of: ada))
            #expect(photo.format == .png)
            #expect(photo.bytes.count > 2_000)
            let requests = hub.sandbox.requests(.recurseCenter)
            #expect(requests.map(\.path.localName) == ["representations", "photos"])
            #expect(requests.map(\.status) == [302, 200])
            #expect(requests.allSatisfy { $0.authorizationScheme == nil && $0.queryParameterNames.isEmpty })
        }
    }

    @Test("RC-16: a path alone is taken at the service's origin", arguments: [RecurseCenter.Shape.profiles, .people])
    func hostRelative(_ shape: RecurseCenter.Shape) async throws {
        try await withHub(shape: shape) { hub in
            let found = try await hub.center.photo(of: hub.profile(6_701))?.format
            #expect(found == .png)
        }
    }

    @Test(
        "RC-16, scenario 9: the picture of those who have none is no photo, and is not fetched",
        arguments: [RecurseCenter.Shape.profiles, .people])
    func placeholder(_ shape: RecurseCenter.Shape) async throws {
        try await withHub(shape: shape) { hub in
            for id: Int64 in [65_535, 6_700] {
                let person = try await hub.profile(id)
                hub.sandbox.clearRequests()
                #expect(try await hub.center.photo(of: person) == nil)
                #expect(hub.paths.isEmpty)
            }
        }
    }

    @Test(
        "RC-16: which addresses are the placeholder's",
        arguments: [
            ("https://a.example.net/assets/people/no_photo_150.jpg", true),
            ("https://a.example.net/assets/no_photo-0123abcd.png?size=150", true),
            ("/images/medium/missing.png", true), ("https://a.example.net/no_photo/150.jpg", true),
            ("https://a.example.net/people/ada_150.jpg", false),
            ("https://a.example.net/people/missingham_150.jpg", false),
            ("https://a.example.net/people/ada.jpg?fallback=no_photo", false),
        ])
    func placeholders(_ address: String, _ isPlaceholder: Bool) async throws {
        let center = try await ScriptedService().center()
        #expect(try (center.photoURL(of: profile(address)) == nil) == isPlaceholder)
        #expect(try center.photoURL(of: profile("https://a.example.net/x.jpg", #","has_photo":false"#)) == nil)
    }

    @Test(
        "an address that may not be asked is an error and no request",
        arguments: [
            "http://a.example.net/x.jpg", "file:///etc/passwd", "javascript:alert(1)", "data:image/png;base64,AAAA",
            "ftp://a.example.net/x", "https://user:password@a.example.net/x", "x.jpg", "https://", "//",
        ])
    func addresses(_ address: String) async throws {
        let service = ScriptedService()
        let center = try await service.center()
        let person = try profile(address)
        #expect(await centerError { try await center.photo(of: person) }?.code == "unusable_photo")
        #expect(service.lines.isEmpty)
    }

    @Test(
        "a redirect to where no photo may come from is not followed",
        arguments: ["http://127.0.0.1:1/x.png", "file:///etc/passwd", "http://a.example.net/x.png"])
    func redirects(_ location: String) async throws {
        let service = ScriptedService([
            "GET https://a.example.net/x.png": [.bytes([], status: 302, headers: [.location: location])]
        ])
        let person = try profile("https://a.example.net/x.png")
        #expect(await centerError { try await service.center().photo(of: person) }?.code == "unusable_photo")
        #expect(service.lines.count == 1)
    }

    @Test("redirects in a circle end, and one to the placeholder is no photo")
    func circles() async throws {
        let service = ScriptedService([
            "GET https://a.example.net/x.png": [.bytes([], status: 302, headers: [.location: "/x.png"])],
            "GET https://a.example.net/y.png": [.bytes([], status: 302, headers: [.location: "/no_photo.png"])],
        ])
        let center = try await service.center()
        let circle = try profile("https://a.example.net/x.png")
        #expect(await centerError { try await center.photo(of: circle) } == .photo(.tooManyRedirects))
        #expect(service.lines.count == 6)
        #expect(try await center.photo(of: profile("https://a.example.net/y.png")) == nil)
    }

    @Test(
        "D6, scenario 9: what is no picture by its bytes is refused, whatever it is called",
        arguments: [
            ("<html>Sorry</html>", "image/png"), ("<svg xmlns='x'/>", "image/svg+xml"), ("", "image/png"),
            ("GIF", "image/gif"), ("RIFF0000WAVE", "image/webp"),
            ("{\"message\":\"unauthorized\"}", "application/json"),
        ])
    func notAnImage(_ text: String, _ type: String) async throws {
        let service = ScriptedService([
            "GET https://a.example.net/x.png": [.bytes(Array(text.utf8), headers: [.contentType: type])]
        ])
        let person = try profile("https://a.example.net/x.png")
        #expect(await centerError { try await service.center().photo(of: person) }?.code == "unusable_photo")
    }

    @Test(
        "the bytes say which format it is, not the media type or the name",
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], ImageFormat.jpeg), (png, .png), (Array("GIF89a".utf8), .gif),
            (Array("RIFF0000WEBPVP8 ".utf8), .webP),
        ] as [([UInt8], ImageFormat)])
    func formats(_ bytes: [UInt8], _ format: ImageFormat) async throws {
        let service = ScriptedService([
            "GET https://a.example.net/x.jpg": [.bytes(bytes, headers: [.contentType: "text/plain"])]
        ])
        let photo = try await service.center().photo(of: profile("https://a.example.net/x.jpg"))
        #expect(photo?.format == format)
    }

    @Test("a photo that is too long is not read, and a page with an error is an error")
    func limits() async throws {
        let long = Self.png + [UInt8](repeating: 0, count: 10 << 20)
        let service = ScriptedService([
            "GET https://a.example.net/long.png": [.bytes(long)],
            "GET https://a.example.net/gone.png": [.bytes(Self.png, status: 404)],
        ])
        let center = try await service.center(retry: .never)
        let tooLong = try profile("https://a.example.net/long.png")
        #expect(await centerError { try await center.photo(of: tooLong) }?.code == "response_too_large")
        let gone = try profile("https://a.example.net/gone.png")
        #expect(await centerError { try await center.photo(of: gone) } == .service(status: 404, message: nil))
    }
}

extension String {
    /// `representations` and `photos` of the sandbox's two addresses.
    fileprivate var localName: String {
        split(separator: "/").dropFirst(contains("active_storage") ? 2 : 0).first.map(String.init) ?? ""
    }
}
