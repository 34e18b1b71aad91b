import Foundation
import Sandbox
import TestFixtures
import Testing

/// A picture as PNG, taken apart.
private struct Picture {
    let width: Int
    let height: Int
    let palette: [[UInt8]]
    let alphas: [UInt8]
    /// The place in the palette of each pixel.
    let pixels: [UInt8]

    init(_ bytes: [UInt8]) throws {
        #expect(bytes.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        var chunks: [String: [UInt8]] = [:]
        var rest = bytes.dropFirst(8)
        while rest.count >= 12 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            chunks[name] = Array(rest.dropFirst(8).prefix(length))
            rest = rest.dropFirst(12 + length)
        }
        let header = try #require(chunks["IHDR"])
        width = header[0..<4].reduce(0) { $0 << 8 | Int($1) }
        height = header[4..<8].reduce(0) { $0 << 8 | Int($1) }
        #expect(header[8...] == [8, 3, 0, 0, 0], "eight bits a pixel, with a palette")
        let colors = try #require(chunks["PLTE"])
        palette = stride(from: 0, to: colors.count, by: 3).map { Array(colors[$0..<$0 + 3]) }
        alphas = chunks["tRNS"] ?? Array(repeating: 255, count: palette.count)
        var (rows, blocks) = ([UInt8](), try #require(chunks["IDAT"]).dropFirst(2))
        while rows.count < (width + 1) * height, blocks.count > 5 {
            let start = blocks.startIndex
            let length = Int(blocks[start + 1]) | Int(blocks[start + 2]) << 8
            rows += blocks[(start + 5)..<(start + 5 + length)]
            blocks = blocks[(start + 5 + length)...]
        }
        try #require(rows.count == (width + 1) * height)
        let (all, line) = (rows, width + 1)
        pixels = (0..<height).flatMap { all[($0 * line + 1)..<(($0 + 1) * line)] }
    }

    /// The share of the picture that its ink covers.
    var coverage: Double { pixels.reduce(0) { $0 + Double(alphas[Int($1)]) } / 255 / Double(pixels.count) }
    /// The share of pixels at an edge, which are neither covered nor clear.
    var edges: Double { Double(pixels.count { (1..<255).contains(alphas[Int($0)]) }) / Double(pixels.count) }
}

@Suite("The IFTTT stand-in: pictures", .heavy)
struct IFTTTImageTests {
    private func picture(_ url: String, _ steps: IFTTTSteps) async throws -> (bytes: [UInt8], Picture) {
        let answer = try await steps.wire.send("GET", String(url.dropFirst(steps.sandbox.ifttt.origin.count)))
        #expect(answer.status == 200 && answer["Content-Type"] == "image/png", "\(url)")
        return (answer.body, try Picture(answer.body))
    }

    @Test("S21: each service and each feature has a drawing, services each their own, in white and in their colour")
    func icons() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            var drawings: [String: [UInt8]] = [:]
            for connection in try #require(sandbox.ifttt.connect).connections {
                let answer = try await steps.send(
                    "GET", "/v2/connections/\(connection.id)", headers: ["IFTTT-Invite-Code": "orchard-invite-7"])
                for service in answer.list("services") {
                    let id = try #require(service["service_id"] as? String)
                    let urls = ["monochrome_icon_url", "color_icon_url"].compactMap { service[$0] as? String }
                    guard id != "bare_shed" else {
                        #expect(urls.allSatisfy { $0.contains("/assets/missing/") })
                        continue
                    }
                    let (white, drawn) = try await picture(try #require(urls.first), steps)
                    #expect(drawn.palette.allSatisfy { $0 == [255, 255, 255] })
                    #expect((0.08...0.6).contains(drawn.coverage), "\(id) \(drawn.coverage)")
                    #expect((0.01...0.2).contains(drawn.edges), "\(id): smooth edges \(drawn.edges)")
                    drawings[id] = white
                    let color = try await picture(try #require(urls.last), steps).1
                    #expect(color.pixels == drawn.pixels && color.palette.first != nil)
                    if id == "location" { #expect(color.palette.last == [0x00, 0x99, 0xFF]) }
                }
                for feature in answer.list("features") {
                    guard let url = feature["icon_url"] as? String else { continue }
                    let coverage = try await picture(url, steps).1.coverage
                    #expect((0.08...0.6).contains(coverage), "\(url)")
                }
            }
            #expect(drawings.count == 10 && Set(drawings.values).count == 10)
        }
    }

    @Test("S21: covers come in their widths, twice as wide as high, and what is not there is 404")
    func covers() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let answer = try await steps.send("GET", IFTTTSteps.leaving)
            let cover = try #require(answer.text("cover_image.480w_url"))
            let (first, drawn) = try await picture(cover, steps)
            #expect(drawn.width == 480 && drawn.height == 240 && drawn.alphas.allSatisfy { $0 == 255 })
            #expect(Set(drawn.pixels).count > 100, "a photograph has many shades")
            #expect(try await picture(cover, steps).bytes == first)
            for name in [
                "cover481.png", "cover.png", "cover-480.png", "nothing.png", "location.gif", "missing/location.png",
                "missing/bare_shed_mono.png", "bare_shed.png",
            ] {
                #expect(try await steps.wire.send("GET", "/assets/\(name)").status == 404, "\(name)")
            }
        }
    }
}
