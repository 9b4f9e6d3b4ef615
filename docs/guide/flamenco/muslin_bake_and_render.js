// SPDX-License-Identifier: GPL-3.0-or-later

// A job type for Flamenco: bake the cloth of a .blend with Muslin on one worker, then render the baked file on all.
// Copy this file into the folder `scripts` beside the program flamenco-manager, and restart the manager.

const JOB_TYPE = {
    label: "Muslin Bake and Render",
    description: "Bake the cloth with Muslin, then render the baked file",
    settings: [
        // Bake
        { key: "bake_frames", type: "string", required: false,
          description: "First and last frame of the bake, such as '1-250'. Empty: those of the scene" },
        { key: "bake_result", type: "string", default: "scene", choices: ["scene", "shape_keys", "mesh_cache"],
          description: "What the bake leaves in the file; scene: the setting of each cloth" },
        { key: "bake_backend", type: "string", default: "scene", choices: ["scene", "numba", "numpy"],
          description: "What computes the bake; scene: the setting of the scene" },
        { key: "bake_threads", type: "int32", default: 0, propargs: { min: 0, max: 256 },
          description: "Most threads of the bake. 0: as many as are useful" },
        { key: "bake_cache", type: "string", subtype: "dir_path", required: false, visible: "submission",
          description: "Folder for the frames of the bake, on the shared storage. Empty: the scene's" },

        // Render
        { key: "frames", type: "string", required: true,
          eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
          evalInfo: { showLinkButton: true, description: "Frame range of the scene" },
          description: "Frames to render, such as '47', '1-30' or '3, 5-10, 47-327'" },
        { key: "chunk_size", type: "int32", default: 1, propargs: { min: 1 }, visible: "submission",
          description: "Number of frames that one task renders" },
        { key: "render_output_root", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder in which the job gets a folder of its own for the images" },
        { key: "render_output_path", type: "string", subtype: "file_path", editable: false,
          eval: "str(Path(abspath(settings.render_output_root), jobname, '{timestamp}', '######'))",
          description: "Path of the images" },

        // Known to Flamenco and Blender
        { key: "blendfile", type: "string", required: true, visible: "web", description: "The .blend to bake" },
        { key: "format", type: "string", required: true, visible: "web",
          eval: "C.scene.render.image_settings.file_format" },
    ],
};

const VIDEO_FORMATS = ["FFMPEG", "AVI_RAW", "AVI_JPEG"];

function compileJob(job) {
    const settings = job.settings;
    if (VIDEO_FORMATS.includes(settings.format)) {
        throw `${settings.format} is a video; choose an image format as the output of the scene`;
    }
    settings.render_output_path = settings.render_output_path.replace("{timestamp}", formatTimestampLocal(job.created));

    const baked = bakedPath(settings.blendfile);
    const bake = bakeTask(settings, baked);
    job.addTask(bake);
    for (const chunk of frameChunker(settings.frames, settings.chunk_size)) {
        const render = renderTask(settings, baked, chunk);
        render.addDependency(bake);
        job.addTask(render);
    }
}

// Beside the .blend, so that relative paths in it stay valid.
function bakedPath(blendfile) {
    return path.join(path.dirname(blendfile), `${path.stem(blendfile)}_baked.blend`);
}

// The task may be stopped, fail or move to another worker at any time: it goes on with the frames that are on disk.
function bakeTask(settings, baked) {
    const args = ["--command", "muslin", "bake", "--resume", "--progress", "json", "--output", baked];
    if (settings.bake_frames) {
        const range = settings.bake_frames.match(/^\s*(-?\d+)\s*-\s*(-?\d+)\s*$/);
        if (!range) {
            throw `Bake Frames is '${settings.bake_frames}', not two numbers such as 1-250`;
        }
        args.push("--frames", range[1], range[2]);
    }
    if (settings.bake_result && settings.bake_result !== "scene") {
        args.push("--result", settings.bake_result);
    }
    if (settings.bake_backend && settings.bake_backend !== "scene") {
        args.push("--backend", settings.bake_backend);
    }
    if (settings.bake_threads > 0) {
        args.push("--threads", `${settings.bake_threads}`);
    }
    if (settings.bake_cache) {
        args.push("--cache", settings.bake_cache);
    }
    return blenderTask("bake", settings.blendfile, args);
}

function renderTask(settings, baked, chunk) {
    return blenderTask(`render-${chunk}`, baked, [
        "--render-output", settings.render_output_path,
        "--render-format", settings.format,
        "--render-frame", chunk.replace(/-/g, ".."),
    ]);
}

function blenderTask(name, blendfile, args) {
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: [],
        blendfile: blendfile,
        args: args,
    }));
    return task;
}
