import Beacons
import Testing

@Suite("Signal strength")
struct SignalTests {
    @Test("BE-07: only -127 to -1 dBm is a measurement", arguments: [127, 0, 1, 20, -128, -1_000, .min, .max])
    func invalid(_ reported: Int) {
        #expect(RSSI(reported) == nil)
    }

    @Test("BE-07: the ends of the range are measurements", arguments: [-1, -59, -127])
    func valid(_ reported: Int) {
        #expect(RSSI(reported).map { Int($0.dBm) } == reported)
    }

    @Test(
        "BE-07: the running average leaves out the extremes",
        arguments: [
            ([-60], -60), ([-60, -61], -60.5), ([-90, -60, -61], -61), ([-90, -61, -60, -62, -30], -61),
            (Array(-69 ... -60), -64.5), (Array(-79 ... -60), -69.5), ([-90] + [Int](repeating: -60, count: 19), -60),
        ] as [([Int], Double)])
    func runningAverage(_ samples: [Int], _ expected: Double) throws {
        var average = RunningAverage()
        #expect(average.value(at: try at(0)) == nil)
        for sample in samples { average.add(try #require(RSSI(sample)), at: try at(1)) }
        #expect(average.value(at: try at(1)) == expected)
    }

    @Test("BE-07: two at either end of ten samples are dropped, three of twenty")
    func dropped() throws {
        var ten = RunningAverage()
        for sample in [-100, -100, -60, -60, -60, -60, -60, -60, -20, -20] {
            ten.add(try #require(RSSI(sample)), at: try at(0))
        }
        #expect(ten.value(at: try at(0)) == -60)
        var twenty = RunningAverage()
        for sample in [-100, -100, -100] + [Int](repeating: -60, count: 14) + [-20, -20, -20] {
            twenty.add(try #require(RSSI(sample)), at: try at(0))
        }
        #expect(twenty.value(at: try at(0)) == -60)
    }

    @Test("BE-07: samples older than the window are forgotten")
    func window() throws {
        var average = RunningAverage(window: .seconds(5))
        average.add(try #require(RSSI(-90)), at: try at(0))
        average.add(try #require(RSSI(-50)), at: try at(4))
        #expect(average.value(at: try at(5)) == -70)
        #expect(average.value(at: try at(5.1)) == -50)
        #expect(average.value(at: try at(9.1)) == nil)
    }

    @Test("BE-07: however many samples come, only the last 256 are kept")
    func bounded() throws {
        var average = RunningAverage()
        for _ in 0..<1_000 { average.add(try #require(RSSI(-90)), at: try at(0)) }
        for _ in 0..<256 { average.add(try #require(RSSI(-50)), at: try at(0)) }
        #expect(average.value(at: try at(0)) == -50)
    }

    @Test("BE-07: the moving average falls by less than 10 dB, as an integer would not")
    func autoregressive() throws {
        var average = AutoregressiveAverage()
        #expect(average.value == nil)
        var values: [Double] = []
        for sample in [-60, -70, -70, -70] {
            average.add(try #require(RSSI(sample)))
            values.append(try #require(average.value))
        }
        for (value, expected) in zip(values, [-60, -61, -61.9, -62.71]) { #expect(abs(value - expected) < 1e-9) }
        var slow = AutoregressiveAverage()
        for sample in [-60, -65] { slow.add(try #require(RSSI(sample))) }
        #expect(slow.value == -60.5)
        var rising = AutoregressiveAverage()
        for sample in [-60, -55] { rising.add(try #require(RSSI(sample))) }
        #expect(rising.value == -59.5)
        #expect(AutoregressiveAverage(coefficient: .nan).coefficient == 0.1)
        #expect(AutoregressiveAverage(coefficient: 7).coefficient == 1)
    }
}

@Suite("Distance")
struct DistanceTests {
    struct Row: Sendable {
        let rssi: Double
        let metres: [Double]
    }

    @Test(
        "BE-08: the table of the dossier, for a power of -59",
        arguments: [
            Row(rssi: -45, metres: [0.067, 0.067, 0.200, 0.275, 0.341]),
            Row(rssi: -55, metres: [0.496, 0.496, 0.631, 0.692, 0.736]),
            Row(rssi: -59, metres: [0.971, 1.011, 1.000, 1.000, 1.000]),
            Row(rssi: -65, metres: [1.375, 2.009, 1.995, 1.738, 1.585]),
            Row(rssi: -70, metres: [1.930, 3.472, 3.548, 2.754, 2.326]),
            Row(rssi: -80, metres: [4.041, 9.522, 11.220, 6.918, 5.012]),
            Row(rssi: -90, metres: [8.463, 23.444, 35.481, 17.378, 10.798]),
            Row(rssi: -100, metres: [17.003, 52.682, 112.202, 43.652, 23.263]),
        ])
    func table(_ row: Row) throws {
        let formulas: [DistanceFormula] = [
            .altBeacon, .curveFit(a: 0.89976, b: 7.7095, c: 0.111), .logDistance(exponent: 2), .standard,
            .logDistance(exponent: 3),
        ]
        for (formula, expected) in zip(formulas, row.metres) {
            let metres = try #require(formula.metres(rssi: row.rssi, powerAtOneMetre: RSSI(-59)))
            #expect(abs(metres - expected) <= 0.000_501, "\(formula)")
        }
    }

    @Test("BE-08: without a power, with no strength or with a senseless exponent the distance is unknown")
    func unknown() {
        for formula in [DistanceFormula.standard, .altBeacon] {
            #expect(formula.metres(rssi: -60, powerAtOneMetre: nil) == nil)
            #expect(formula.metres(rssi: 0, powerAtOneMetre: RSSI(-59)) == nil)
            #expect(formula.metres(rssi: .nan, powerAtOneMetre: RSSI(-59)) == nil)
        }
        #expect(DistanceFormula.logDistance(exponent: 0).metres(rssi: -60, powerAtOneMetre: RSSI(-59)) == nil)
        #expect(DistanceFormula.logDistance(exponent: .nan).metres(rssi: -60, powerAtOneMetre: RSSI(-59)) == nil)
        #expect(DistanceFormula.logDistance(exponent: 1e-9).metres(rssi: -90, powerAtOneMetre: RSSI(-59)) == nil)
    }
}

@Suite("Proximity")
struct ProximityTests {
    @Test(
        "BE-09: the buckets and Core Location's numbers for them",
        arguments: [
            (nil, 0), (-1, 0), (.nan, 0), (0, 1), (0.5, 1), (0.501, 2), (2.999, 2), (3, 3), (1_000, 3), (.infinity, 3),
        ] as [(Double?, Int)])
    func buckets(_ metres: Double?, _ rawValue: Int) {
        #expect(Proximity(metres: metres).rawValue == rawValue)
    }

    struct Walk: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let metres: [Double?]
        let buckets: [Proximity]
    }

    @Test(
        "BE-09: a bucket changes when its border was passed by a fifth on two ticks in a row",
        arguments: [
            Walk(
                testDescription: "outwards", metres: [1, 3.5, 3.5, 3.61, 3.61],
                buckets: [.near, .near, .near, .near, .far]),
            Walk(
                testDescription: "inwards", metres: [5, 2.5, 2.5, 2.39, 2.39], buckets: [.far, .far, .far, .far, .near]),
            Walk(testDescription: "once only", metres: [1, 4, 1, 4, 1], buckets: [.near, .near, .near, .near, .near]),
            Walk(
                testDescription: "to immediate", metres: [1, 0.41, 0.41, 0.4, 0.4],
                buckets: [.near, .near, .near, .near, .immediate]),
            Walk(
                testDescription: "from immediate", metres: [0.3, 0.59, 0.61, 0.61],
                buckets: [.immediate, .immediate, .immediate, .near]),
            Walk(testDescription: "over two borders", metres: [9, 0.1, 0.1], buckets: [.far, .far, .immediate]),
            Walk(
                testDescription: "as far as both ticks", metres: [9, 0.1, 1, 1], buckets: [.far, .far, .near, .near]),
            Walk(
                testDescription: "in both directions", metres: [1, 4, 0.1, 4, 4],
                buckets: [.near, .near, .near, .near, .far]),
            Walk(testDescription: "unknown immediately", metres: [1, nil, 9], buckets: [.near, .unknown, .far]),
        ])
    func hysteresis(_ walk: Walk) {
        var proximity = SteadyProximity()
        #expect(proximity.value == .unknown)
        let buckets = walk.metres.map { metres in
            proximity.update(metres: metres)
            return proximity.value
        }
        #expect(buckets == walk.buckets)
    }
}
