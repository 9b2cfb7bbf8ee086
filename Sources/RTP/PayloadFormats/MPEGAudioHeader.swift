/// The header of a frame of MPEG audio: MPEG-1 and MPEG-2 (ISO/IEC 11172-3 §2.4.1.3, ISO/IEC 13818-3 §2.4.1.3) and the
/// lower sample rates that are known as MPEG-2.5, layers I to III. Layer III is MP3.
struct MPEGAudioHeader: Sendable, Hashable {
    /// The size of a header in bytes.
    static let size = 4

    /// 1, 2 or 3.
    let layer: Int

    /// In Hz.
    let sampleRate: Int

    /// The size of the frame in bytes, with its header.
    let frameSize: Int

    /// Samples of each channel in the frame.
    let sampleCount: Int

    /// - Parameter bytes: The first four bytes of a frame.
    /// - Returns: `nil` for bytes that are not a header, and for a frame of free format, whose size is not in its header.
    init?(_ bytes: UInt32) {
        let version = bytes >> 19 & 3
        let bitRate = Int(bytes >> 12 & 15)
        let rate = Int(bytes >> 10 & 3)
        layer = 4 - Int(bytes >> 17 & 3)
        guard bytes >> 21 == 0x7FF, version != 1, layer < 4, (1...14).contains(bitRate), rate < 3 else { return nil }

        let isMPEG1 = version == 3
        sampleRate = [44_100, 48_000, 32_000][rate] / (isMPEG1 ? 1 : version == 2 ? 2 : 4)
        let kilobits = Self.kilobits[isMPEG1 ? layer - 1 : layer == 1 ? 3 : 4][bitRate]
        let padding = Int(bytes >> 9 & 1)
        switch layer {
        case 1:
            sampleCount = 384
            frameSize = (12_000 * kilobits / sampleRate + padding) * 4
        case 3 where !isMPEG1:
            sampleCount = 576
            frameSize = 72_000 * kilobits / sampleRate + padding
        default:
            sampleCount = 1_152
            frameSize = 144_000 * kilobits / sampleRate + padding
        }
    }

    /// By `bitrate_index`: MPEG-1 layers I, II and III, then MPEG-2 layer I, then its layers II and III.
    private static let kilobits = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}
