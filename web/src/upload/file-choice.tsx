import { Button } from 'react-aria-components/Button';
import { TakeButton } from '../ui/take-button.tsx';
import { DropZone } from 'react-aria-components/DropZone';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { bytesText } from '../shell/format.ts';
import { words } from '../words.ts';
import { ENDINGS } from './kinds.ts';

const said = words.upload.files;

interface FileChoiceProps {
  files: readonly File[];
  isDisabled: boolean;
  add: (files: readonly File[]) => void;
  remove: (file: File) => void;
}

/** Where files are dropped or chosen, and those that were. */
export function FileChoice({ files, isDisabled, add, remove }: FileChoiceProps) {
  return (
    <div className="stack">
      <DropZone
        className="drop"
        isDisabled={isDisabled}
        aria-label={said.drop}
        onDrop={({ items }) => {
          const dropped = items.flatMap((item) => (item.kind === 'file' ? [item.getFile()] : []));
          void Promise.all(dropped).then(add);
        }}
      >
        <p>{said.drop}</p>
        <FileTrigger allowsMultiple acceptedFileTypes={ENDINGS} onSelect={(list) => add([...(list ?? [])])}>
          <Button className={`button ${files.length === 0 ? 'primary' : ''}`} isDisabled={isDisabled}>
            {said.choose}
          </Button>
        </FileTrigger>
        <p className="hint">{said.hint}</p>
      </DropZone>
      {files.length === 0 ? null : (
        <ul className="rows tight" aria-label={said.chosen}>
          {files.map((file) => (
            <li key={file.webkitRelativePath || file.name}>
              <div>
                <span className="file-name">{file.name}</span> <span className="small quiet number">{bytesText(file.size)}</span>
              </div>
              <TakeButton disabled={isDisabled} aria-label={said.remove(file.name)} onClick={() => remove(file)}>
                ×
              </TakeButton>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
