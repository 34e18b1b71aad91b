import Beacons
import Testing

@Suite("Recordings")
struct RecordingTests {
    @Test("BE-23: a packet is written as the dossier's line and read back the same")
    func roundTrip() throws {
        let advertisement = Advertisement(
            time: try at(1_767_225_600.25), address: DeviceAddress("D0:00:00:00:02:F7"), rssi: RSSI(-61),
            data: try AdvertisingData([worked.structure]))
        let line = RecordingCodec.line(advertisement)
        #expect(
            line
                == #"{"t":1767225600.25,"addr":"D0:00:00:00:02:F7","rssi":-61,"#
                + #""ad":"1aff4c0002153ee761a0f73711e3a3ac0800200c9a66000102f7c5"}"#)
        #expect(try RecordingCodec.advertisement(line: line.utf8, number: 1) == advertisement)
        let bare = Advertisement(
            time: try at(-0.000_001), address: nil, rssi: nil, data: try AdvertisingData(received: []))
        #expect(RecordingCodec.line(bare) == #"{"t":-0.000001,"rssi":127,"ad":""}"#)
        #expect(try RecordingCodec.advertisement(line: RecordingCodec.line(bare).utf8, number: 1) == bare)
    }

    @Test(
        "BE-23: what other programs leave out, add or cannot measure does not matter",
        arguments: [
            #"{"t":1,"ad":"020106"}"#, #"{"t":1.0,"addr":null,"rssi":null,"ad":"020106"}"#,
            #" { "ad" : "020106", "t" : 1, "rssi" : 0, "more" : {"x": [1]} } "# + "\r",
            #"{"t":1,"rssi":127,"ad":"020106"}"#, #"{"t":1,"rssi":-1000,"ad":"020106"}"#,
        ])
    func tolerant(_ line: String) throws {
        let advertisement = try #require(try RecordingCodec.advertisement(line: line.utf8, number: 1))
        #expect(advertisement.time == (try at(1)) && advertisement.rssi == nil && advertisement.address == nil)
        #expect(advertisement.data.bytes == [2, 1, 6])
    }

    @Test(
        "BE-23: a line that cannot be read is told of by its number and its member, without being quoted",
        arguments: [
            ("hello \u{1b}[2J", "it is not a JSON object"), ("[]", "it is not a JSON object"),
            (#"{"ad":""}"#, "the member t is missing"), (#"{"t":1}"#, "the member ad is missing"),
            (#"{"t":"1","ad":""}"#, "the member t is of the wrong type"),
            (#"{"t":1,"rssi":"x","ad":""}"#, "the member rssi is of the wrong type"),
            (#"{"t":1e300,"ad":""}"#, "t is outside the years 1 to 9999"),
            (#"{"t":1,"addr":"x","ad":""}"#, "addr is not an address of six pairs of digits"),
            (#"{"t":1,"ad":"0"}"#, "ad is not a sequence of hexadecimal pairs"),
            (#"{"t":1,"ad":"zz"}"#, "ad is not a sequence of hexadecimal pairs"),
            (
                #"{"t":1,"ad":""# + String(repeating: "00", count: 1_651) + #""}"#,
                "ad is longer than an advertisement can be"
            ),
            (String(repeating: " ", count: 8_193), "it is longer than 8192 bytes"),
        ])
    func refused(_ line: String, _ problem: String) {
        #expect(throws: BeaconsError.recording(line: 7, problem: problem)) {
            try RecordingCodec.advertisement(line: line.utf8, number: 7)
        }
    }

    @Test("BE-23: a bad line hides no other, and lines are counted with the empty ones")
    func recording() throws {
        let text = "{\"t\":1,\"ad\":\"\"}\n\nnonsense\r\n{\"t\":2,\"ad\":\"\"}\n{\"t\":3,\"ad\":\"0"
        let (advertisements, errors) = RecordingCodec.advertisements(in: text.utf8)
        #expect(advertisements.map(\.time) == [try at(1), try at(2)])
        #expect(
            errors == [
                .recording(line: 3, problem: "it is not a JSON object"),
                .recording(line: 5, problem: "it is not a JSON object"),
            ])
    }
}
