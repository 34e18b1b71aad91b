#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// One pose of the check mark.
struct CheckMarkView: View {
    let ink: ConnectButtonColor
    let unit: Double
    let pose: Pose

    var body: some View {
        let mark = CheckMark.standard
        let line = ConnectButtonGeometry.standard.checkMarkLine * unit
        ZStack {
            Circle()
                .inset(by: line / 2)
                .stroke(Color(ink).opacity(mark.ringOpacity), lineWidth: line)
                .scaleEffect(pose[.ring])
            Tick(unit: unit)
                .trim(from: 0, to: pose[.tick])
                .stroke(Color(ink), style: StrokeStyle(lineWidth: line, lineCap: .round, lineJoin: .round))
                .opacity(pose[.tick] > 0 ? 1 : 0)
            if pose[.dot] > 0, pose[.dot] < 1 {
                let dot = mark.dot(at: pose[.dot])
                Circle().fill(Color(ink)).frame(width: line, height: line)
                    .position(x: dot.x * unit, y: dot.y * unit)
            }
        }
        .frame(width: mark.side * unit, height: mark.side * unit)
        // A tick is not mirrored in right-to-left layouts.
        .environment(\.layoutDirection, .leftToRight)
    }
}

/// The tick's line.
struct Tick: Shape {
    let unit: Double

    nonisolated func path(in rect: CGRect) -> Path {
        Path { path in
            path.addLines(CheckMark.standard.tick.map { CGPoint(x: $0.x * unit, y: $0.y * unit) })
        }
    }
}
#endif
