import CFFmpeg

/// The planes of an `AVFrame`.
enum PictureFrame {
    struct Plane {
        let begin: UnsafeMutablePointer<UInt8>
        /// Bytes from one row to the next.
        let stride: Int

        func `as`<Sample>(_: Sample.Type) -> Samples<Sample> {
            Samples(
                begin: UnsafeMutableRawPointer(begin).assumingMemoryBound(to: Sample.self),
                stride: stride / MemoryLayout<Sample>.size)
        }
    }

    struct Samples<Sample> {
        let begin: UnsafeMutablePointer<Sample>
        /// Samples from one row to the next.
        let stride: Int
    }

    static func plane(_ index: Int, of frame: UnsafeMutablePointer<AVFrame>) -> Plane? {
        let (data, strides) = (frame.pointee.data, frame.pointee.linesize)
        let all = [
            (data.0, strides.0), (data.1, strides.1), (data.2, strides.2), (data.3, strides.3),
        ]
        guard all.indices.contains(index), let begin = all[index].0 else { return nil }
        return Plane(begin: begin, stride: Int(all[index].1))
    }
}
