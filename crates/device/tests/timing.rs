//! Temporary.
use seixo_device::gpu::*;
use std::time::Instant;
#[test]
fn timing() {
    let listing = list();
    println!("{listing}");
    for d in listing.found {
        let gpu = Gpu::open(Some((d.api, d.index))).unwrap();
        println!("== {d:?} max page {}", gpu.client().properties().memory.max_page_size);
        let n = 1usize << 24;
        let t = Instant::now();
        let mut s = 1u64;
        let mut r = || {
            s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (s >> 33) as u32
        };
        let keys: Vec<u32> = (0..n).map(|_| r() % (n as u32 / 2)).collect();
        let sorted: Vec<u32> = (0..n as u32).map(|k| k / 2).collect();
        let ids: Vec<u32> = (0..n as u32).rev().collect();
        println!("host data {:.3}", t.elapsed().as_secs_f64());
        let t = Instant::now();
        let k = gpu.upload(&keys, "k").unwrap();
        gpu.wait().unwrap();
        println!("upload 64 MB {:.4}", t.elapsed().as_secs_f64());
        let ks = gpu.upload(&sorted, "k").unwrap();
        let id = gpu.upload(&ids, "k").unwrap();
        let out = gpu.buffer::<u32>(n + 1, "o").unwrap();
        let first = gpu.buffer::<u32>(n + 1, "o").unwrap();
        let rec = gpu.zeros::<f32>(4 * n / 8, "o").unwrap();
        let rec2 = gpu.zeros::<f32>(4 * n / 8, "o").unwrap();
        let f = gpu.zeros::<f64>(n / 2, "f").unwrap();
        let seg: Vec<u32> = (0..=n as u32 / 16).map(|k| 8 * k).collect();
        let seg = gpu.upload(&seg, "s").unwrap();
        let sums = gpu.buffer::<f64>(n / 16, "s").unwrap();
        let one = gpu.buffer::<u32>(1, "one").unwrap();
        let time = |name: &str, body: &dyn Fn()| {
            body();
            gpu.wait().unwrap();
            let t = Instant::now();
            let reps = 10;
            for _ in 0..reps {
                body();
            }
            gpu.wait().unwrap();
            println!("{name}: {:.4} ms", t.elapsed().as_secs_f64() * 1e3 / reps as f64);
        };
        time("clear 64 MB", &|| gpu.clear(&out));
        time("scan 16M", &|| gpu.exclusive_scan(&k, n, &out).unwrap());
        time("sort 16M random keys", &|| {
            gpu.order_by_key(&k, &id, n, n / 2, &out, &first).unwrap()
        });
        time("sort 16M sorted keys", &|| {
            gpu.order_by_key(&ks, &id, n, n / 2, &out, &first).unwrap()
        });
        time("fold f64 8M", &|| {
            gpu.fold(&f, n / 2, Fold::Largest).unwrap();
        });
        time("segments 1M of 8 f64", &|| gpu.sum_by_segment(&f, 1, &seg, n / 16, &sums));
        time("segments 1 of 8M f64", &|| {
            gpu.sum_by_segment(&f, 1, &gpu.upload(&[0, n as u32 / 2], "x").unwrap(), 1, &sums)
        });
        time("gather 2M records in order", &|| {
            gpu.gather(&rec, &ids_small(&gpu, n / 8), n / 8, 4, &rec2)
        });
        time("compact 16M", &|| {
            gpu.compact(&gpu.zeros::<u32>(n, "z").unwrap(), n, &out, &one).unwrap()
        });
        time("scan 10k", &|| gpu.exclusive_scan(&k, 10_000, &out).unwrap());
        time("alloc 4 MB", &|| drop(gpu.buffer::<u32>(1 << 20, "a").unwrap()));
        time("alloc 64 B", &|| drop(gpu.buffer::<u32>(16, "a").unwrap()));
        time("clear+download 4 B", &|| {
            gpu.clear(&one);
            gpu.download(&one).unwrap();
        });
        time("download 64 MB", &|| {
            gpu.download(&k).unwrap();
        });
    }
}
fn ids_small(gpu: &Gpu, n: usize) -> Buffer<u32> {
    gpu.zeros::<u32>(n, "i").unwrap()
}
