import AsyncSupport
import Foundation
import Geofences
import TestFixtures
import Testing

@testable import Positions

@Suite("Recorded tracks")
struct FileTests {
    static let nmea = """
        $GPGGA,150000.00,4041.4000,N,07359.1000,W,1,08,1.1,12.0,M,-34.0,M,,*67\r
        $GPGSA,A,3,02,05,07,09,13,15,20,29,,,,,1.9,1.1,1.5*38\r
        $GPRMC,150000.00,A,4041.4000,N,07359.1000,W,023.0,020.7,020326,,,A*45\r
        $GPGGA,150001.00,4041.4060,N,07359.0970,W,1,08,1.1,12.0,M,-34.0,M,,*6F\r
        $GPGSA,A,3,02,05,07,09,13,15,20,29,,,,,1.9,1.1,1.5*38\r
        $GPRMC,150001.00,A,4041.4060,N,07359.0970,W,023.0,020.7,020326,,,A*4D\r

        """

    private static func fixes(nmea text: String) throws -> [Fix] { try NMEA.fixes(in: Array(text.utf8)) }
    private static func fixes(gpx text: String) throws -> [Fix] { try GPX.fixes(in: Array(text.utf8)) }

    static func checked(_ body: String) -> String {
        let sum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
        return "$" + body + "*" + (sum.count < 2 ? "0" : "") + sum + "\n"
    }

    @Test("the sentences of the dossier are two fixes with position, time, speed and accuracy")
    func dossier() throws {
        let fixes = try Self.fixes(nmea: Self.nmea)
        #expect(fixes.count == 2)
        #expect((fixes[0].coordinate.latitude - 40.69).magnitude < 1e-9)
        #expect((fixes[0].coordinate.longitude + 73.985).magnitude < 1e-9)
        #expect(fixes.map(\.time.timeIntervalSince1970) == [1_772_463_600, 1_772_463_601])
        #expect((try #require(fixes[0].speed) - 11.832).magnitude < 0.001)
        #expect(fixes.map(\.accuracy) == [5.5, 5.5])
    }

    @Test("a named pipe without a writer is opened, and waiting for it ends with the task")
    func pipe() async throws {
        let path = NSTemporaryDirectory() + "track-\(UUID().uuidString)"
        try #require(mkfifo(path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try InputFile(path)
        let reading = Task { try await file.read() }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    // Opening the pipe to write blocks until its reader comes.
    @Test("a named pipe is read when its writer comes", .ownThreads)
    func writtenPipe() async throws {
        let path = NSTemporaryDirectory() + "track-\(UUID().uuidString)"
        try #require(mkfifo(path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        async let fixes = TrackReplay(file: path, speed: .maximum).fixes().reduce(into: 0) { count, _ in count += 1 }
        try Data(Self.nmea.utf8).write(to: URL(filePath: path), options: [])
        #expect(try await fixes == 2)
    }

    @Test("sentences with a wrong checksum, without a fix, of other kinds or cut off are passed over")
    func damaged() throws {
        let damaged = [
            "$GPRMC,150002.00,A,4041.4060,N,07359.0970,W,023.0,020.7,020326,,,A*00", "$GPRMC,1500", "$", "*", "garbage",
            Self.checked("GPRMC,150003.00,V,,,,,,,020326,,,N"),
            Self.checked("GPRMC,250000,A,4041.4,N,07359.1,W,,,020326"),
            Self.checked("GPRMC,150000,A,9941.4,N,07359.1,W,,,020326"),
            Self.checked("GPRMC,150000,A,4061.4,N,07359.1,W,,,020326"),
            Self.checked("GPRMC,150000,A,4041.4,N,07359.1,W,,,310226"),
            Self.checked("GPRMC,150000,A,4041.4,X,07359.1,W,,,020326"),
            Self.checked("GPRMC"), Self.checked("GPGGA,,,,,,,,"), Self.checked("XX"),
            "$" + String(repeating: "A", count: 5_000),
        ]
        #expect(try Self.fixes(nmea: damaged.joined(separator: "\n") + "\n" + Self.nmea).count == 2)
    }

    @Test("an empty speed is unknown")
    func emptySpeed() throws {
        let text = ["", "-", "."].enumerated().map { number, speed in
            Self.checked("GPRMC,15000\(number),A,4041.4000,N,07359.1000,W,\(speed),,020326")
        }
        #expect(try Self.fixes(nmea: text.joined()).map(\.speed) == [nil, nil, nil])
        let still = Self.checked("GPRMC,150000,A,4041.4000,N,07359.1000,W,0.0,,020326")
        #expect(try Self.fixes(nmea: still).map(\.speed) == [0])
    }

    @Test("a receiver that sends RMC before GGA gives the accuracy of the cycle before, for 10 seconds")
    func orderOfSentences() throws {
        func minimum(_ time: String, _ date: String = "020326") -> String {
            Self.checked("GPRMC,\(time),A,4041.4000,N,07359.1000,W,0.0,,\(date)")
        }
        func data(_ time: String, _ dilution: String) -> String {
            Self.checked("GPGGA,\(time),4041.4000,N,07359.1000,W,1,08,\(dilution),12.0,M,-34.0,M,,")
        }
        func accuracies(_ sentences: String...) throws -> [Double] {
            try Self.fixes(nmea: sentences.joined()).map(\.accuracy)
        }
        #expect(try accuracies(minimum("150000.00"), data("150000.00", "20.0"), minimum("150001.00")) == [15, 100])
        #expect(try accuracies(data("150000", "20.0"), minimum("150010"), minimum("150011")) == [100, 15])
        #expect(try accuracies(data("235959", "20.0"), minimum("000001", "030326")) == [100])
        #expect(try accuracies(data("150000", "1.0"), data("150001", ""), minimum("150001")).last == 15)
    }

    @Test("positions of receivers that send no RMC take their date from ZDA")
    func zda() throws {
        let text =
            Self.checked("GNZDA,150000.00,02,03,2026,00,00")
            + Self.checked("GNGGA,150000.50,4041.4000,S,07359.1000,E,1,08,2.0,12.0,M,-34.0,M,,")
        let fixes = try Self.fixes(nmea: text)
        #expect(fixes.map(\.time.timeIntervalSince1970) == [1_772_463_600.5])
        #expect(fixes.map(\.accuracy) == [10])
        #expect(try #require(fixes.first).coordinate.latitude < -40)
    }

    @Test(
        "a file without a position is refused with the reason",
        arguments: ["", "hello\n", "$GPGSA,A,1,,,,,,,,,,,,,,,*1E\n"])
    func noPositions(text: String) throws {
        let error = #expect(throws: PositionsError.self) { try Self.fixes(nmea: text) }
        #expect(error?.code == "no_positions")
    }

    @Test("a track is read with positions, times, dilution and speed, in either version of GPX")
    func gpx() throws {
        let fixes = try Self.fixes(
            gpx: """
                <?xml version="1.0"?><!-- <trkpt lat="1" lon="1"> --><gpx version="1.1" xmlns:x="y">
                <metadata><time>2020-01-01T00:00:00Z</time></metadata><wpt lat="1" lon="2"><time>2020-01-01T00:00:00Z</time></wpt>
                <trk><name><![CDATA[<trkpt lat="9" lon="9">]]></name><trkseg>
                <trkpt lat="40.69" lon = '-73.985'><ele>3</ele><time> 2026-03-02T15:00:00.250Z </time><hdop>1.2</hdop>
                <extensions><x:TrackPointExtension><x:speed>11.8</x:speed></x:TrackPointExtension></extensions></trkpt>
                <trkpt lon="-73.984" lat="40.691"><time>2026-03-02T16:00:01+01:00</time></trkpt>
                <trkpt lat="40.691" lon="-73.984"/><trkpt lat="91" lon="0"><time>2026-03-02T15:00:02Z</time></trkpt>
                </trkseg></trk><rte><rtept lat="1" lon="1"><time>2026-03-02T15:00:02Z</time></rtept></rte></gpx>
                """)
        #expect(fixes.map(\.time.timeIntervalSince1970) == [1_772_463_600.25, 1_772_463_601])
        #expect(fixes.map(\.accuracy) == [6, 10])
        #expect(fixes.map(\.speed) == [11.8, nil])
        #expect(fixes[0].coordinate == (try Coordinate(latitude: 40.69, longitude: -73.985)))
    }

    @Test(
        "what is no GPX is refused with its line and the reason",
        arguments: [
            ("", "file"), ("<kml></kml>", "not GPX"), ("\n<gpx><trk", "within an element"),
            ("<gpx><!-- x", "not closed"),
            ("<gpx><![CDATA[ x", "not closed"), ("<!DOCTYPE gpx [<!ENTITY a \"b\">]><gpx/>", "document types"),
            ("<gpx <trk>", "not closed"), ("{\"a\":1}", "not GPX"),
            ("<gpx>" + String(repeating: "<a ", count: 10_000), "not closed"),
        ])
    func notGPX(text: String, word: String) throws {
        let error = #expect(throws: PositionsError.self) { try Self.fixes(gpx: text) }
        #expect(error?.code == "invalid_track")
        #expect(try #require(error).description.contains(word))
    }

    @Test("a track without points, or whose points have no time, is refused with the reason")
    func emptyTracks() throws {
        let none = #expect(throws: PositionsError.self) { try Self.fixes(gpx: "<gpx/>") }
        #expect(none == .noPositions(kind: "GPX", reason: "it has no track and no route"))
        for empty in ["<trk/>", "<trk><trkseg></trkseg></trk>", "<rte></rte>"] {
            let pointless = #expect(throws: PositionsError.self) { try Self.fixes(gpx: "<gpx>\(empty)</gpx>") }
            #expect(pointless == .noPositions(kind: "GPX", reason: "its track has no points"))
        }
        let timeless = #expect(throws: PositionsError.self) {
            try Self.fixes(gpx: "<gpx><trkpt lat='1' lon='1'/><trkpt lat='1' lon='2'></trkpt></gpx>")
        }
        #expect(timeless == .noPositions(kind: "GPX", reason: "none of its 2 points has a valid position and a time"))
    }

    @Test("a route is read where there is no track")
    func route() throws {
        let fixes = try Self.fixes(
            gpx: "<gpx><rte><rtept lat='1' lon='1'><time>2026-03-02T15:00:02Z</time></rtept></rte></gpx>")
        #expect(fixes.count == 1)
    }

    @Test(
        "of hostile GPX each byte is looked at a few times, and little is held",
        arguments: [
            "<trkpt ", "<!-- ", "<a b='", "<trkpt lat='1' x='2' ", "<a/>", "<trkpt lat=\"1\" lon=\"2\"><time>",
            "<time>1",
            "<trkpt lat='1' x='2'/>", "x='2' ",
        ])
    func linear(piece: String) {
        for count in [1_000, 20_000] {
            var reader = GPXReader()
            var fixes: [Fix] = []
            let beginning = piece.hasPrefix("<") ? "<gpx>" : "<gpx><trkpt "
            let bytes = Array((beginning + String(repeating: piece, count: count)).utf8)
            do throws(PositionsError) {
                try reader.read(bytes[...], into: &fixes)
                try reader.end(into: &fixes)
            } catch { #expect(["invalid_track", "no_positions"].contains(error.code)) }
            #expect(reader.visited <= 4 * bytes.count)
            #expect(reader.held <= GPXReader.maximumTagLength)
        }
    }

    @Test("a file that is read in pieces gives the same fixes wherever it is cut", arguments: ["gpx", "nmea"])
    func pieces(format: String) throws {
        let format = try #require(TrackFormat(rawValue: format))
        let text =
            format == .nmea
            ? Self.nmea
            : """
            \u{FEFF}<?xml version="1.0"?><!-- <trkpt> --><gpx><rte><rtept lat='9' lon='9'><time>2026-03-02T15:00:00Z</time></rtept></rte>
            <trk><name><![CDATA[<trkpt]]></name><trkpt lat="40.69" lon = '-73.985'><time> 2026-03-02T15:00:00.250Z </time>
            <hdop>1.2</hdop></trkpt><trkpt lon="-73.984" lat="40.691"><time>2026-03-02T16:00:01+01:00</time></trkpt></trk></gpx>
            """
        let bytes = Array(text.utf8)
        func fixes(_ pieces: [ArraySlice<UInt8>]) throws -> [Fix] {
            var reader = format.reader
            var fixes: [Fix] = []
            for piece in pieces { try reader.read(piece, into: &fixes) }
            try reader.end(into: &fixes)
            return fixes
        }
        let whole = try fixes([bytes[...]])
        #expect(whole.count == 2)
        for cut in bytes.indices { #expect(try fixes([bytes[..<cut], bytes[cut...]]) == whole) }
        #expect(try fixes(bytes.indices.map { bytes[$0...$0] }) == whole)
    }

    @Test("a file of several pieces is replayed, and its fault is told after the fixes before it")
    func severalPieces() async throws {
        let folder = try TemporaryFolder()
        let point = #"<trkpt lat="1" lon="2"><time>2026-03-02T15:00:02Z</time></trkpt>"#
        let path = folder.path + "/long.gpx"
        let text = "<gpx><trk>" + String(repeating: point, count: 4_000) + "<trkpt <"
        try Data(text.utf8).write(to: URL(filePath: path))
        var count = 0
        let error = await #expect(throws: PositionsError.self) {
            for try await _ in TrackReplay(file: path, speed: .maximum).fixes() { count += 1 }
        }
        #expect(count == 4_000)
        #expect(error?.code == "invalid_track")
    }

    @Test("points of a file without a valid position or a time are counted at its end, once")
    func passedOver() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/half.gpx"
        let whole = #"<trkpt lat="1" lon="2"><time>2026-03-02T15:00:02Z</time></trkpt>"#
        let time = "<time>2026-03-02T15:00:02Z</time>"
        // An empty number is none, and not 0°.
        let empty = ["", "-", "."].map { #"<trkpt lat="\#($0)" lon="\#($0)">\#(time)</trkpt>"# }.joined()
        let broken = #"<trkpt lat="x" lon="2"/><trkpt lat="1" lon="2"/>"# + empty
        let text = "<gpx><trk>" + whole + broken + whole + "</trk></gpx>"
        try Data(text.utf8).write(to: URL(filePath: path))
        var updates: [PositionUpdate] = []
        for try await update in TrackReplay(file: path, speed: .maximum).updates() { updates.append(update) }
        #expect(updates.count == 3)
        #expect(updates.last == .passedOver(5))
    }

    @Test("a file that cannot be opened or read is told with the reason")
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        for path in [folder.path + "/missing.gpx", folder.path] {
            let error = await #expect(throws: PositionsError.self) {
                for try await _ in TrackReplay(file: path, as: .gpx).fixes() {}
            }
            #expect(error?.code == "file_unreadable")
            #expect(try #require(error).description.contains(path))
        }
    }

    @Test("a device without an end is no track", arguments: [nil, .nmea, .gpx] as [TrackFormat?])
    func endless(_ format: TrackFormat?) async throws {
        let error = await #expect(throws: PositionsError.self) {
            for try await _ in TrackReplay(file: "/dev/zero", as: format, speed: .maximum).fixes() {}
        }
        #expect(error?.code == (format == .gpx ? "invalid_track" : "no_positions"))
    }

    @Test("space without an end is no track, and a sentence behind a mebibyte of noise is not looked for")
    func prelude() async throws {
        let folder = try TemporaryFolder()
        let sentence = "\n$GPRMC,150000.00,A,4041.4000,N,07359.1000,W,023.0,020.7,020326,,,A*45\n"
        for (noise, count, isTrack) in [
            (" ", TrackFile.maximumPreludeLength + 70_000, false),
            ("x", TrackFile.maximumPreludeLength + 70_000, false),
            ("x", 900_000, true), (" ", 900_000, true),
        ] {
            let path = folder.path + "/noise-\(noise == " ")-\(count)"
            try Data((String(repeating: noise, count: count) + sentence).utf8).write(to: URL(filePath: path))
            var fixes = 0
            do {
                for try await _ in TrackReplay(file: path, speed: .maximum).fixes() { fixes += 1 }
            } catch let error as PositionsError {
                #expect(error == .unknownFormat && !isTrack)
            }
            #expect((fixes == 1) == isTrack)
        }
    }

    @Test(
        "times that do not exist are none",
        arguments: [
            "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01",
            "0000-01-01T00:00:00Z",
            "2026-01-01T00:00:00X", "2026-01-01T00:00:00+25:00", "２０２６-01-01T00:00:00Z", "2026-01-01T00:00:00Zx", "",
        ])
    func times(text: String) throws {
        let error = #expect(throws: PositionsError.self) {
            try Self.fixes(gpx: "<gpx><trkpt lat='1' lon='1'><time>\(text)</time></trkpt></gpx>")
        }
        #expect(error?.code == "no_positions")
    }
}
